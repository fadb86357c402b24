// Every page, with data, in light, dark and on a phone: it shows what it is about, nothing goes wrong in its console, axe
// finds nothing serious, and nothing is asked of anybody but the gateway. Screenshots are kept in target/screenshots.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { openBrowser } from "../support/chromium.mjs";
import { startGateway } from "../support/gateway.mjs";
import { afternoon, askApproval, labelling, prove } from "../support/seed.mjs";
import { watchedPage } from "../support/watch.mjs";

const SHOTS = fileURLToPath(new URL("../../../target/screenshots/", import.meta.url));
const MODES = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

let gateway, browser;
const ids = {};

before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  gateway = await startGateway();
  await afternoon(gateway);
  await askApproval(gateway, { to: "team@example.org", subject: "Your refund", body: "It is on its way." });
  ids.artifact = await prove(gateway);
  await gateway.call("POST", `/api/v1/artifacts/${ids.artifact}/promote`);
  for (let i = 0; i < 12; i++) await gateway.call("POST", "/v1/chat/completions", labelling(9000 + i), { "x-punk-agent": "painter", "x-punk-app": "workshop" });
  ids.pattern = (await gateway.call("GET", "/api/v1/patterns")).json.patterns[0].id;
  ids.cached = (await gateway.call("GET", "/api/v1/runs?route=exact_cache&limit=1")).json.runs[0].id;
  ids.served = (await gateway.call("GET", "/api/v1/runs?route=artifact&limit=1")).json.runs[0]?.id;
  await gateway.call("POST", `/api/v1/runs/${ids.cached}/memory`, { source: "web:example.com", trustLane: "untrusted" });
  await gateway.call("POST", `/api/v1/runs/${ids.cached}/feedback`, { type: "rating", rating: 1 });
  await gateway.call("POST", "/api/v1/keys", { name: "support bot", app: "support", scopes: ["gateway", "read"] });
  await gateway.call("POST", "/api/v1/budgets", { name: "everything, a day", limitUsd: 5, per: "tenant", window: "day" });
  await gateway.call("POST", "/api/v1/exceptions", { policy: "office", actions: ["write:email"], agent: "support-bot", reason: "launch day", hours: 8 });
  browser = await openBrowser();
});
after(async () => { await browser?.close(); await gateway?.stop(); });

/** Name, address, and what has to be on the page. */
const pages = () => [
  ["overview", "#/", "Route mix"],
  ["runs", "#/runs", "painter"],
  ["run", `#/runs/${ids.cached}`, "the same request was answered before"],
  ["run-served", `#/runs/${ids.served}`, "learned from"],
  ["patterns", "#/patterns", "choose-one-of-these-labels"],
  ["pattern", `#/patterns/${ids.pattern}`, "Every attempt is kept"],
  ["artifacts", "#/artifacts", "classifier"],
  ["artifact", `#/artifacts/${ids.artifact}`, "answers differed from live"],
  ["approvals", "#/approvals", "May support-bot do"],
  ["governance", "#/governance", "1 policy in force"],
  ["explain", "#/governance?tab=explain", "Suppose"],
  ["exceptions", "#/governance?tab=exceptions", "launch day"],
  ["budgets", "#/governance?tab=budgets", "everything, a day"],
  ["agents", "#/agents", "support-bot"],
  ["agent", "#/agents/painter", "What the score is made of"],
  ["audit", "#/audit", "key created"],
  ["cache", "#/cache", "Answers to identical requests"],
  ["jobs", "#/jobs", "learning tick"],
  ["keys", "#/keys", "support bot"],
  ["people", "#/people", "Nobody logs in here yet"],
  ["settings", "#/settings", "Memory quarantine"],
  ["playground", "#/playground", "Ask something"],
  ["compare", "#/playground?tab=compare", "Ask both"],
  ["missing", "#/nowhere", "There is no such page"],
];

for (const [mode, options] of Object.entries(MODES)) {
  test(`every page shows its data without an error, accessibly, within its policy, in ${mode}`, async () => {
    const watched = await watchedPage(browser, options);
    const { page, problems } = watched;
    const found = [];
    for (const [name, address, text] of pages()) {
      await page.goto(`${gateway.page}/${address}`);
      await page.getByText(text, { exact: false }).first().waitFor({ timeout: 8000 }).catch(() => found.push(`${name}: does not say “${text}”`));
      await page.waitForTimeout(250);
      for (const line of await watched.axe()) found.push(`${name}: ${line}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 1) found.push(`${name}: ${wide} pixels wider than the window`);
      for (const breach of await watched.breaches()) found.push(`${name}: ${breach}`);
      await page.screenshot({ path: `${SHOTS}${mode}-${name}.png`, fullPage: name !== "runs" });
    }
    assert.deepEqual(found, []);
    assert.deepEqual(problems, []);
    assert.deepEqual(watched.origins(), [gateway.page]);
    await watched.close();
  });
}
