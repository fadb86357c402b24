// Proves that pages can be tested here at all: a server, a real browser, a click, what the page then says.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { openBrowser } from "./support/chromium.mjs";

const PAGE = `<!doctype html>
<meta charset="utf-8"><title>Punk smoke test</title><link rel="icon" href="data:,">
<button>Approve</button><p id="verdict">waiting</p>
<script>
  document.querySelector("button").onclick = async () => {
    document.querySelector("#verdict").textContent = await (await fetch("/verdict")).text();
  };
</script>`;

let server, browser, address;

before(async () => {
  server = createServer((request, response) => {
    const isVerdict = request.url === "/verdict";
    response.setHeader("content-type", isVerdict ? "text/plain" : "text/html");
    response.end(isVerdict ? "allow" : PAGE);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  server.closeAllConnections();
  server.close();
});

test("a click reaches the server and its answer reaches the page", async () => {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(address);
  assert.equal(await page.title(), "Punk smoke test");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("allow", { exact: true }).waitFor({ timeout: 10_000 });
  assert.equal(await page.locator("#verdict").textContent(), "allow");
  assert.deepEqual(errors, []);
});
