// Takes a picture of the dashboard, filled by the demo: node docs/pictures/dashboard.mjs PUNK docs/pictures/dashboard.png
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openBrowser } from "../../tests/browser/support/chromium.mjs";

const [binary, picture] = [resolve(process.argv[2]), resolve(process.argv[3])];
const folder = mkdtempSync(join(tmpdir(), "punk-demo-"));
const told = spawnSync(binary, ["demo", "--fast"], { cwd: folder, encoding: "utf8" });
if (told.status !== 0) throw new Error(`the demo failed: ${told.stderr}`);
const gateway = spawn(binary, ["serve", "--data-dir", "data/demo", "--set", "server.port=0"], { cwd: folder });
let said = "";
gateway.stdout.on("data", (data) => (said += data));
while (!/listens on (\S+)/.test(said)) await once(gateway.stdout, "data");
const browser = await openBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5 });
  await page.goto(/listens on (\S+)/.exec(said)[1]);
  await page.getByRole("heading", { name: "Route mix" }).waitFor();
  await page.locator("canvas").first().waitFor();
  await page.screenshot({ path: picture });
} finally {
  await browser.close();
  gateway.kill();
  await once(gateway, "exit");
  rmSync(folder, { recursive: true });
}
