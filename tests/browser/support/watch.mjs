// Watches a page for what a visitor never sees: errors in its console, exceptions, and breaches of its security policy.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * A page in a context of its own, and everything that went wrong on it.
 * @param {import("playwright-core").Browser} browser
 */
export async function watchedPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const problems = [];
  const requests = new Set();
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") problems.push(`${message.type()}: ${message.text()}`); });
  page.on("pageerror", (error) => problems.push(`exception: ${error.message}`));
  page.on("request", (request) => requests.add(new URL(request.url()).origin));
  page.on("dialog", (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.addInitScript(() => {
    globalThis.breaches = [];
    document.addEventListener("securitypolicyviolation", (event) => globalThis.breaches.push(`${event.violatedDirective} ${event.blockedURI}`));
  });
  return {
    page, context, problems,
    /** Origins that were asked for anything; data: and blob: have none. */
    origins: () => [...requests].filter((origin) => origin !== "null"),
    breaches: () => page.evaluate(() => globalThis.breaches),
    /** What axe finds serious or critical, as lines that say where. */
    async axe() {
      if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
      return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, help, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${help}: ${node.target.join(" ")} ${node.html.slice(0, 140)}`));
    },
    close: () => context.close(),
  };
}
