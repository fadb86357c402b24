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
const TYPES = { html: "text/html", js: "text/javascript", mjs: "text/javascript", map: "application/json" };
const PAGE = '<!doctype html><meta charset="utf-8"><title>@punk/sdk</title><link rel="icon" href="data:,">';

let started, browser, page;
before(async () => {
  const executablePath = process.env.PUNK_TEST_CHROMIUM ?? "/usr/bin/chromium";
  started = await startWorld();
  browser = await chromium.launch({ executablePath, args: FLAGS });
  page = await browser.newPage();
  // The files of the SDK and of the suite appear beside the gateway's own, as if it served them.
  await page.route(`${started.world.open}/_sdk/**`, async (route) => {
    const path = new URL(route.request().url()).pathname.replace("/_sdk/", "");
    const body = path === "" ? PAGE : await readFile(ROOT + path, "utf8");
    await route.fulfill({ body, contentType: TYPES[path.split(".").pop()] ?? TYPES.html });
  });
  await page.goto(`${started.world.open}/_sdk/`);
  await page.evaluate(async () => {
    const [sdk, suite] = await Promise.all([import("/_sdk/dist/index.js"), import("/_sdk/tests/suite/index.mjs")]);
    globalThis.attempt = (name, world) => suite.attempt(name, sdk, world);
  });
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
