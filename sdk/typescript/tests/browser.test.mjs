// The suite in a browser, on a page of the gateway's own origin: an open gateway lets no other page change anything.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { cases } from "./suite/index.mjs";
import { startWorld } from "./support/world.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

let started, browser, page;
before(async () => {
  const executablePath = process.env.PUNK_TEST_CHROMIUM ?? "/usr/bin/chromium";
  started = await startWorld();
  browser = await chromium.launch({ executablePath, args: FLAGS });
  page = await browser.newPage();
  // The files of the SDK and of the suite appear beside the gateway's own, as if it served them.
  await page.route(`${started.world.open}/_sdk/**`, async (route) => {
    const path = new URL(route.request().url()).pathname.replace("/_sdk/", "");
    await route.fulfill({ body: await readFile(ROOT + path, "utf8"), contentType: "text/javascript" });
  });
  // A page that the gateway itself gave: browsers ask before one of unknown origin may reach this machine.
  await page.goto(`${started.world.open}/health`);
  await page.evaluate(async () => {
    const [sdk, suite] = await Promise.all([import("/_sdk/dist/index.js"), import("/_sdk/tests/suite/index.mjs")]);
    globalThis.attempt = (name, world) => suite.attempt(name, sdk, world);
  });
  // While requests are looked at, the browser asks for no kept answers with each of them, and the gateway obeys.
  await page.unrouteAll();
});
after(async () => {
  await browser?.close();
  await started?.close();
});

for (const { name } of cases) {
  test(`browser: ${name}`, { timeout: 60_000 }, async () => {
    const wrong = await page.evaluate(([name, world]) => globalThis.attempt(name, world), [name, started.world]);
    assert.equal(wrong, null);
  });
}
