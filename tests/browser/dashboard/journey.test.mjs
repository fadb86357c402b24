// The way of a new user through the dashboard, over a real gateway: make a key, send a call with it, see the run appear,
// read why it was routed so, approve an action, promote an artifact, verify a packet.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { openBrowser } from "../support/chromium.mjs";
import { startGateway } from "../support/gateway.mjs";
import { afternoon, askApproval, chat, labelling, prove } from "../support/seed.mjs";
import { watchedPage } from "../support/watch.mjs";

let gateway, browser, watched, page;

before(async () => {
  gateway = await startGateway();
  browser = await openBrowser();
  watched = await watchedPage(browser);
  page = watched.page;
});
after(async () => { await browser?.close(); await gateway?.stop(); });

const open = (address) => page.goto(`${gateway.page}/${address}`);
const sees = (text, options = {}) => page.getByText(text, { exact: false, ...options }).first().waitFor({ timeout: 10_000 });

test("an empty gateway says what to do, and a key is made and shown once", async () => {
  await open("#/");
  await sees("Nothing has been asked yet");
  await page.getByRole("link", { name: "Make a key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("my first agent");
  await page.getByRole("button", { name: "Make it" }).click();
  await sees("Copy it now; it is not shown again.");
  page.firstKey = (await page.locator(".secret .truncate").textContent()).trim();
  assert.match(page.firstKey, /^\S{20,}$/);
  await page.reload();
  await sees("my first agent");
  assert.equal(await page.getByText(page.firstKey).count(), 0);
});

test("a call with that key appears on the live tail without a reload, and its run says why it was routed so", async () => {
  await open("#/runs?live=on");
  await page.getByRole("button", { name: "Live tail" }).waitFor();
  await page.waitForTimeout(600);
  const headers = { authorization: `Bearer ${page.firstKey}`, "x-punk-agent": "newcomer" };
  const first = await gateway.call("POST", "/v1/chat/completions", chat("Where is my parcel?"), headers);
  assert.equal(first.status, 200, first.text);
  await page.getByRole("row").filter({ hasText: "newcomer" }).first().waitFor({ timeout: 5000 });
  const second = await gateway.call("POST", "/v1/chat/completions", chat("Where is my parcel?"), headers);
  assert.equal(second.headers.get("x-punk-route"), "exact_cache");
  const row = page.getByRole("row").filter({ hasText: "newcomer" }).filter({ hasText: "exact cache" });
  await row.first().waitFor({ timeout: 5000 });
  await row.first().click();
  await sees("Why it went this way");
  await sees("the same request was answered before");
  await sees("You said: Where is my parcel?");
  assert.ok(page.url().endsWith(second.headers.get("x-punk-run-id")));
});

test("the packet of that run verifies in the browser, and a changed one does not", async () => {
  const trust = execFileSync(process.env.PUNK_TEST_BINARY, ["keys", "trust"], { cwd: gateway.folder, encoding: "utf8" });
  await page.getByRole("button", { name: "Verify" }).click();
  await sees("Give a trust file to have signatures checked.");
  await page.getByRole("button", { name: "Add a trust file" }).click();
  await page.getByLabel("Trust file", { exact: true }).fill(trust);
  await page.getByRole("button", { name: "Verify" }).click();
  await sees("Valid and signed");
  await sees("This page shows what the packet proves");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download packet" }).click();
  const file = await (await download).path();
  const { tenant } = JSON.parse(readFileSync(file, "utf8"));
  assert.match(tenant, /^ten_/);

  // The same page, with a gateway that lies about one word of the answer in the packet.
  await page.route("**/evidence-packet", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replace("You said: Where is my parcel?", "You said: Where is my cheque?") });
  });
  await page.getByRole("button", { name: "Verify" }).click();
  await sees("Broken");
  await sees("event-hash");
  await page.unroute("**/evidence-packet");
});

test("feedback is given on a run and stands on it", async () => {
  await page.getByLabel("What it should have been").fill("It is in Berlin.");
  await page.getByRole("button", { name: "Bad" }).click();
  await sees("Feedback is on record");
  await sees("feedback.recorded");
});

test("an action is read, approved by the keyboard, and then allowed", async () => {
  await afternoon(gateway);
  const asked = await askApproval(gateway, { to: "team@example.org", subject: "Your refund" });
  assert.ok(asked.approvalId, JSON.stringify(asked));
  await open("#/approvals");
  await sees("May support-bot do");
  await sees("Your refund");
  await page.keyboard.press("x");
  await sees("Say why, so that whoever asked can do better.");
  await page.keyboard.press("Escape");
  await page.keyboard.press("e");
  await sees("Nobody waits for you");
  const { json } = await gateway.call("GET", `/api/v1/approvals/${asked.approvalId}`);
  assert.equal(json.approval.status, "approved");
});

test("an artifact that passed its gates is promoted and answers; then it is rolled back", async () => {
  const artifact = await prove(gateway);
  await open("#/patterns");
  await page.getByRole("link", { name: /choose-one-of-these-labels/ }).click();
  await page.getByRole("link", { name: /gates passed/ }).click();
  await sees("answers differed from live");
  await page.getByRole("button", { name: "Promote" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Promote" }).click();
  await sees("It answers from now on");
  const routes = new Set();
  for (let i = 0; i < 40 && !routes.has("artifact"); i++) routes.add((await gateway.call("POST", "/v1/chat/completions", labelling(70_000 + i))).headers.get("x-punk-route"));
  assert.ok(routes.has("artifact"), [...routes].join());
  await page.getByRole("button", { name: "Roll back" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
  await sees("It is out of service");
  const { json } = await gateway.call("GET", `/api/v1/artifacts/${artifact}`);
  assert.equal(json.artifact.state, "shadow");
});

test("a sample of the comparison shows what both said", async () => {
  await page.locator(".rows details").first().locator("summary").click();
  await sees("Live said");
  await page.locator(".diff .code").nth(1).filter({ hasText: /^(red|green|blue)$/ }).waitFor();
});

test("the governor explains a verdict, and says what would change it", async () => {
  await open("#/governance?tab=explain");
  await page.getByLabel("Action").fill("delete:table");
  await page.getByRole("button", { name: "What if it were otherwise?" }).click();
  await page.getByLabel("Action").nth(1).fill("read:table");
  await page.getByRole("button", { name: "Compare" }).click();
  await sees("The verdict changes:");
  await sees("office, rule 0");
});

test("an agent's trust is changed with a reason, and the audit trail has it", async () => {
  await open("#/agents/support-bot");
  await page.getByLabel("Trust", { exact: true }).selectOption("trusted");
  await page.getByLabel("Why").fill("reviewed today");
  await page.getByRole("button", { name: "Put on record" }).click();
  await sees("An operator said");
  await open("#/audit?q=support-bot");
  await sees("agent changed");
});

test("a budget is set, a setting is changed, the cache is cleared, a key is revoked", async () => {
  await open("#/governance?tab=budgets");
  await page.getByRole("button", { name: "Set one" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("all of it");
  await page.getByRole("button", { name: "Set it" }).click();
  await sees("all of it");
  await open("#/settings");
  await page.getByLabel("For how many seconds").fill("7200");
  await page.getByRole("button", { name: "Save" }).first().click();
  await sees("Cache: changed");
  assert.equal((await gateway.call("GET", "/api/v1/settings")).json.settings.cache.exactTtlSeconds, 7200);
  await open("#/cache");
  await page.getByRole("button", { name: "Take out…" }).click();
  await page.getByRole("button", { name: "Take out everything" }).click();
  await sees("entries were taken out");
  await open("#/keys");
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await sees("The key is taken back");
  assert.equal((await gateway.call("GET", "/api/v1/runs", undefined, { authorization: `Bearer ${page.firstKey}` })).status, 401);
});

test("runs are found by filter and by search, and an address brings back the same view", async () => {
  await open("#/runs");
  await page.getByLabel("Search runs").fill("agent:triage");
  await page.keyboard.press("Enter");
  await page.getByRole("row").filter({ hasText: "triage" }).first().waitFor();
  await page.waitForFunction(() => location.hash.includes("agent=triage"));
  await page.getByLabel("Route", { exact: true }).selectOption("exact_cache");
  await page.getByRole("row").filter({ hasText: "exact cache" }).first().waitFor();
  await page.reload();
  await page.getByRole("row").filter({ hasText: "triage" }).first().waitFor();
  const rows = await page.locator(".list-row[aria-rowindex]").allTextContents();
  assert.ok(rows.length > 0 && rows.every((text) => text.includes("triage") && text.includes("exact cache")), rows.join(" | "));
});

test("the keyboard reaches every page, moves in lists and shows its help", async () => {
  await open("#/");
  await sees("Route mix");
  for (const [key, title] of [["r", "Runs"], ["t", "Patterns"], ["f", "Artifacts"], ["a", "Approvals"], ["v", "Governance"], ["n", "Agents"], ["d", "Audit"], ["c", "Cache"], ["j", "Jobs"], ["k", "Keys"], ["u", "People"], ["s", "Settings"], ["p", "Playground"], ["o", "Overview"]]) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.locator(".list-row").nth(3).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/runs/run_"));
  await open("#/runs");
  await page.locator(".list-row").first().waitFor();
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Search runs");
});

test("nothing went wrong on the way", async () => {
  assert.deepEqual(watched.problems, []);
  assert.deepEqual(await watched.breaches(), []);
  assert.deepEqual(watched.origins(), [gateway.page]);
});
