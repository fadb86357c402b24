// What callers write stays text. Every field that a caller controls is filled with markup that would run if it were ever
// taken for markup, and every page that shows it is opened.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBrowser } from "../support/chromium.mjs";
import { startGateway } from "../support/gateway.mjs";
import { askApproval, chat } from "../support/seed.mjs";
import { watchedPage } from "../support/watch.mjs";

const EVIL = `<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script><svg onload=globalThis.owned=1>`;
// Headers and names take less.
const SHORT = `<img src=x onerror=globalThis.owned=1>`;

let gateway, browser, watched, page, run;

/** Sends it and says whether it was taken. */
const taken = async (...request) => (await gateway.call(...request)).status < 300;

before(async () => {
  gateway = await startGateway();
  const headers = { "x-punk-agent": SHORT, "x-punk-app": SHORT, "x-punk-subject": "subject-evil" };
  const answer = await gateway.call("POST", "/v1/chat/completions", { ...chat(EVIL), model: SHORT }, headers);
  assert.equal(answer.status, 200, answer.text);
  run = answer.headers.get("x-punk-run-id");
  const accepted = [
    await taken("POST", `/api/v1/runs/${run}/feedback`, { type: "rating", rating: -1, correction: EVIL }),
    await taken("POST", `/api/v1/runs/${run}/memory`, { source: SHORT, trustLane: "untrusted" }),
    await taken("POST", "/api/v1/trace", { runId: run, type: "tool.called", payload: { name: EVIL, [SHORT]: EVIL } }),
    await taken("POST", "/api/v1/ingest/prompt", { source: SHORT, prompt: EVIL, sessionId: SHORT, metadata: { note: EVIL } }),
    await taken("POST", "/api/v1/keys", { name: SHORT, scopes: ["read"] }),
    await taken("POST", "/api/v1/budgets", { name: SHORT, limitUsd: 1, per: "agent", only: SHORT, window: "day" }),
    await taken("POST", "/api/v1/exceptions", { policy: "office", actions: ["write:calendar"], agent: SHORT, reason: SHORT, hours: 1 }),
    await taken("PATCH", "/api/v1/settings", { tools: { [SHORT]: { level: 1 }, send_mail: { level: 3, action: "write:email" } } }),
    await taken("POST", "/api/v1/service-accounts", { name: SHORT }),
    await taken("POST", "/api/v1/conversations", { title: SHORT, system: EVIL, model: "gpt-4o" }),
  ];
  assert.deepEqual(accepted, accepted.map(() => true), "every field has to take it, or its page shows nothing hostile");
  for (let i = 0; i < 20; i++) await gateway.call("POST", "/v1/chat/completions", { model: "gpt-4o", messages: [{ role: "system", content: `${SHORT} Choose one of these labels: red, green.` }, { role: "user", content: `paint it red ${i} ${EVIL}` }] });
  await gateway.call("POST", "/api/v1/learning/tick");
  await askApproval(gateway, { to: SHORT, [SHORT]: EVIL }, {});
  browser = await openBrowser();
  watched = await watchedPage(browser);
  page = watched.page;
});
after(async () => { await browser?.close(); await gateway?.stop(); });

/** Opens every address, unfolds what is folded, and gives those on which the markup was to be read. */
async function readable({ page, breaches }, at, addresses) {
  const seen = new Set();
  for (const address of addresses) {
    await page.goto(`${at}/${address}`);
    await page.waitForTimeout(450);
    for (const summary of await page.locator("details:not([open]) > summary").all()) await summary.click({ timeout: 1000 }).catch(() => null);
    assert.equal(await page.evaluate(() => globalThis.owned), undefined, `something ran on ${address}`);
    assert.deepEqual(await page.locator("img, svg[onload], #app script").count(), 0, `markup became elements on ${address}`);
    assert.deepEqual(await breaches(), [], address);
    const text = await page.evaluate(() => document.body.innerText + [...document.querySelectorAll("input, textarea")].map((input) => input.value).join("\n"));
    if (text.includes("onerror")) seen.add(address);
  }
  return seen;
}

test("markup of callers is shown as text on every page, and none of it runs", async () => {
  const agents = (await gateway.call("GET", "/api/v1/agents")).json.agents.map((agent) => agent.name);
  const patterns = (await gateway.call("GET", "/api/v1/patterns")).json.patterns.map((pattern) => pattern.id);
  const addresses = ["#/", "#/runs", `#/runs/${run}`, "#/patterns", ...patterns.slice(0, 1).map((id) => `#/patterns/${id}`), "#/approvals", "#/governance", "#/governance?tab=exceptions", "#/governance?tab=budgets",
    "#/agents", ...agents.map((name) => `#/agents/${encodeURIComponent(name)}`), "#/audit", "#/jobs", "#/keys", "#/people?tab=machines", "#/settings", "#/playground",
    `#/runs?q=${encodeURIComponent(EVIL)}&agent=${encodeURIComponent(EVIL)}`, `#/${encodeURIComponent(EVIL)}`, `#/runs/${encodeURIComponent(EVIL)}`, `#/login?invitation=${encodeURIComponent(EVIL)}`];
  const seen = await readable(watched, gateway.page, addresses);
  assert.ok(seen.has(`#/runs/${run}`) && seen.has("#/approvals") && seen.has("#/keys") && seen.size >= 8, `the markup was to be seen only on ${[...seen]}`);
});

test("nothing but the refused addresses is in the console", async () => {
  const unexpected = watched.problems.filter((line) => !/status of (400|404)/.test(line));
  assert.deepEqual(unexpected, []);
});

test("names of people, their organisation and whom it tells stay text as well", async () => {
  const key = "installation-key-for-tests-0123456789";
  const password = "four words of my own";
  const closed = await startGateway({ PUNK_API_KEY: key, PUNK_ADMIN_EMAIL: "ada@example.org", PUNK_ADMIN_PASSWORD: password });
  const person = await watchedPage(browser);
  try {
    const send = async (method, path, body) => {
      const answer = await closed.call(method, path, body, { authorization: `Bearer ${key}` });
      assert.ok(answer.status < 300, `${method} ${path} did not take it, so no page shows it: ${answer.text}`);
      return answer.json;
    };
    const { members } = await send("GET", "/api/v1/members");
    await send("PATCH", `/api/v1/users/${members[0].user}`, { name: SHORT });
    await send("POST", "/api/v1/users", { email: `"<img/src=x/onerror=globalThis.owned=1>"@example.org`, name: EVIL, password, role: "viewer" });
    await send("PATCH", "/api/v1/organisation", { name: SHORT });
    await send("POST", "/api/v1/webhooks", { name: SHORT, url: "https://hooks.example.com/?q=<img/src=x/onerror=globalThis.owned=1>", events: ["approval.created"] });
    await send("POST", "/api/v1/invitations", { email: `"<img/src=x/onerror=globalThis.owned=1>"@example.net`, role: "viewer" });
    const { page } = person;
    await page.goto(`${closed.page}/#/people`);
    await page.getByLabel("E-mail").fill("ada@example.org");
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "People" }).waitFor();
    const seen = await readable(person, closed.page, ["#/people", "#/people?tab=invitations", "#/people?tab=sessions", "#/settings", "#/audit", "#/jobs", "#/"]);
    assert.ok(seen.has("#/people") && seen.has("#/people?tab=invitations"), `the markup was to be seen only on ${[...seen]}`);
    assert.deepEqual(person.problems.filter((line) => !/status of 401/.test(line)), []);
  } finally {
    await person.close();
    await closed.stop();
  }
});
