// What pages say when there is nothing, when somebody may not look, and when the gateway does not answer.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { openBrowser } from "../support/chromium.mjs";
import { startGateway } from "../support/gateway.mjs";
import { afternoon, askApproval } from "../support/seed.mjs";
import { watchedPage } from "../support/watch.mjs";

const KEY = "installation-key-for-tests-0123456789";
let gateway, browser;

before(async () => {
  gateway = await startGateway({ PUNK_API_KEY: KEY });
  browser = await openBrowser();
});
after(async () => { await browser?.close(); await gateway?.stop(); });

const sees = (page, text) => page.getByText(text, { exact: false }).first().waitFor({ timeout: 10_000 });
async function enter(page, key, address) {
  await page.goto(`${gateway.page}/${address}`);
  await page.getByRole("button", { name: "Key", exact: true }).click();
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Log in" }).click();
}

test("every empty page says what to do, accessibly", async () => {
  const watched = await watchedPage(browser);
  const { page } = watched;
  await enter(page, KEY, "#/");
  for (const [address, text] of [["#/", "Nothing has been asked yet"], ["#/patterns", "Nothing repeats yet"], ["#/artifacts", "Nothing was learned yet"], ["#/approvals", "Nobody waits for you"],
    ["#/agents", "No agent has asked yet"], ["#/keys", "No keys yet"], ["#/people", "Nobody logs in here yet"], ["#/governance?tab=budgets", "No budget holds"], ["#/governance?tab=exceptions", "No exceptions"], ["#/jobs?state=dead", "Nothing was given up"]]) {
    await page.goto(`${gateway.page}/${address}`);
    await sees(page, text);
    assert.deepEqual(await watched.axe(), [], address);
  }
  await watched.close();
});

test("a gateway that answers before the page is painted is heard", async () => {
  const watched = await watchedPage(browser);
  const { page } = watched;
  // What follows a painting comes 35 ms late then, when the gateway has answered long ago.
  await page.addInitScript(() => { globalThis.requestAnimationFrame = () => 0; });
  for (let visit = 0; visit < 5; visit += 1) {
    await page.goto(`${gateway.page}/?visit=${visit}#/runs`);
    await page.getByRole("button", { name: "Key", exact: true }).waitFor({ timeout: 10_000 });
  }
  await watched.close();
});

test("who may not look is told so, in the gateway's words, and can look at the rest", async () => {
  await afternoon(gateway, { authorization: `Bearer ${KEY}` });
  const { json } = await gateway.call("POST", "/api/v1/keys", { name: "reader", scopes: ["read"] }, { authorization: `Bearer ${KEY}` });
  const watched = await watchedPage(browser);
  const { page } = watched;
  await enter(page, json.token, "#/keys");
  await sees(page, "This takes a permission that you do not have.");
  await page.goto(`${gateway.page}/#/runs`);
  await page.getByRole("row").filter({ hasText: "triage" }).first().waitFor();
  await page.goto(`${gateway.page}/#/cache`);
  await page.getByRole("button", { name: "Take out…" }).click();
  await page.getByRole("button", { name: "Take out everything" }).click();
  await page.getByRole("alert").filter({ hasText: "This takes a permission that you do not have." }).waitFor();
  await watched.close();
});

test("a gateway that does not answer is told with what to do, and the page goes on when it does", async () => {
  const watched = await watchedPage(browser);
  const { page } = watched;
  await enter(page, KEY, "#/runs");
  await page.getByRole("row").first().waitFor();
  await page.route("**/api/v1/cache/stats", (route) => route.abort());
  await page.goto(`${gateway.page}/#/cache`);
  await sees(page, "The gateway does not answer.");
  await page.unroute("**/api/v1/cache/stats");
  await page.getByRole("button", { name: "Try again" }).click();
  await sees(page, "Answers to identical requests");
  await watched.close();
});

test("the theme is chosen, kept, and there before anything is painted", async () => {
  const watched = await watchedPage(browser, { colorScheme: "light" });
  const { page } = watched;
  await enter(page, KEY, "#/settings");
  await page.getByLabel("Theme", { exact: true }).selectOption("dark");
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await paper();
  await page.reload();
  assert.equal(await paper(), dark);
  assert.notEqual(dark, "rgb(250, 249, 247)");
  await watched.close();
});

test("on a phone the menu opens, goes elsewhere and closes", async () => {
  const watched = await watchedPage(browser, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  const { page } = watched;
  await enter(page, KEY, "#/");
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Audit" }).click();
  await page.getByRole("heading", { level: 1, name: "Audit" }).waitFor();
  await page.getByRole("link", { name: "Audit", exact: true }).waitFor({ state: "hidden" });
  await watched.close();
});

test("a dead letter says why it was given up, and is put back with one click", async () => {
  const own = await startGateway({ PUNK_ALLOW_PRIVATE_WEBHOOKS: "true" });
  // Whoever answers that it is gone is not asked again: the delivery is given up at once.
  let answers = 410;
  const received = [];
  const receiver = createServer((request, response) => { received.push(request.headers["x-punk-delivery"]); response.writeHead(answers).end(); }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const watched = await watchedPage(browser);
  const { page } = watched;
  try {
    await own.call("PATCH", "/api/v1/settings", { tools: { send_mail: { level: 3, action: "write:email" } } });
    const told = await own.call("POST", "/api/v1/webhooks", { name: "on call", url: `http://127.0.0.1:${receiver.address().port}/`, events: ["approval.created"] });
    assert.equal(told.status, 201, told.text);
    await askApproval(own, { to: "team@example.org" });
    for (let tries = 0; received.length === 0 && tries < 150; tries++) await page.waitForTimeout(100);
    await page.waitForTimeout(300);
    await page.goto(`${own.page}/#/jobs?state=dead`);
    await sees(page, "answers 410");
    answers = 204;
    await page.getByRole("button", { name: "Put back" }).click();
    await sees(page, "It waits again");
    await sees(page, "Nothing was given up");
    for (let tries = 0; received.length < 2 && tries < 150; tries++) await page.waitForTimeout(100);
    assert.equal(received.length, 2, "what was put back is delivered");
    assert.equal(received[0], received[1], "and is the same delivery to whoever receives it");
    assert.deepEqual(watched.problems, []);
  } finally {
    await watched.close();
    await own.stop();
    receiver.closeAllConnections();
    receiver.close();
  }
});
