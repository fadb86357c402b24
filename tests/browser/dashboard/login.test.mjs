// A gateway that wants to know who looks: with its key, as a person, and after a session has ended.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBrowser } from "../support/chromium.mjs";
import { startGateway } from "../support/gateway.mjs";
import { askApproval } from "../support/seed.mjs";
import { watchedPage } from "../support/watch.mjs";

const KEY = "installation-key-for-tests-0123456789";
const PASSWORD = "four words of my own";
let gateway, browser;

before(async () => {
  gateway = await startGateway({ PUNK_API_KEY: KEY, PUNK_ADMIN_EMAIL: "ada@example.org", PUNK_ADMIN_PASSWORD: PASSWORD });
  await gateway.call("PATCH", "/api/v1/settings", { tools: { send_mail: { level: 3, action: "write:email" } } }, { authorization: `Bearer ${KEY}` });
  browser = await openBrowser();
});
after(async () => { await browser?.close(); await gateway?.stop(); });

const sees = (page, text) => page.getByText(text, { exact: false }).first().waitFor({ timeout: 10_000 });
/** A browser writes every 401 to its console; that is how a page finds out that it has to ask. */
const unexpected = (problems) => problems.filter((line) => !/status of 401/.test(line));

test("a wrong key is told as such, the right one opens the pages, and it is gone with the tab", async () => {
  const watched = await watchedPage(browser);
  const { page } = watched;
  await page.goto(`${gateway.page}/#/runs`);
  await sees(page, "This gateway wants to know who looks.");
  assert.deepEqual(await watched.axe(), []);
  await page.getByRole("button", { name: "Key", exact: true }).click();
  await page.getByLabel("API key").fill("not the key");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("API key").fill(KEY);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
  const other = await watched.context.newPage();
  await other.goto(`${gateway.page}/#/runs`);
  await sees(other, "This gateway wants to know who looks.");
  assert.deepEqual(unexpected(watched.problems), []);
  await watched.close();
});

test("a person logs in, changes something with the session, and is asked again when it ends", async () => {
  const watched = await watchedPage(browser);
  const { page } = watched;
  await page.goto(`${gateway.page}/#/keys`);
  await page.getByLabel("E-mail").fill("ada@example.org");
  await page.getByLabel("Password").fill("a wrong password of mine");
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  await page.getByRole("button", { name: "Make a key" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("made by a person");
  await page.getByRole("button", { name: "Make it" }).click();
  await sees(page, "Copy it now; it is not shown again.");
  await page.reload();
  await sees(page, "made by a person");

  const { approvalId } = await askApproval(gateway, { to: "team@example.org" }, { authorization: `Bearer ${KEY}` });
  assert.ok(approvalId);
  await page.goto(`${gateway.page}/#/approvals`);
  await page.getByRole("button", { name: /Approve/ }).click();
  await sees(page, "Nobody waits for you");
  await page.goto(`${gateway.page}/#/people?tab=sessions`);
  await sees(page, "this one");
  assert.deepEqual(await watched.axe(), []);
  await page.goto(`${gateway.page}/#/playground?tab=compare`);
  await page.getByRole("textbox", { name: "Question" }).fill("Where is my parcel?");
  await page.getByRole("button", { name: "Ask both" }).click();
  await sees(page, "You said: Where is my parcel?");

  // The session ends elsewhere; the page asks again, and goes on where it was.
  const { json } = await gateway.call("GET", "/api/v1/members", undefined, { authorization: `Bearer ${KEY}` });
  await gateway.call("DELETE", `/api/v1/members/${json.members[0].user}/sessions`, undefined, { authorization: `Bearer ${KEY}` });
  await page.goto(`${gateway.page}/#/jobs`);
  await sees(page, "Your session has ended");
  await page.getByLabel("E-mail").fill("ada@example.org");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
  await page.getByRole("button", { name: "Log out" }).click();
  await sees(page, "This gateway wants to know who looks.");
  assert.deepEqual(unexpected(watched.problems), []);
  await watched.close();
});
