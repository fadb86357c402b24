// A real gateway for a test: its own folder, its own port, its own policies. What a test does to it, it does over HTTP.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { devServer } from "./dev-server.mjs";

const POLICY = `name: office
version: "1"
description: What the agents of the office may do.
defaultEffect: allow
rules:
  - effect: deny
    actions: ["delete:*"]
  - effect: allow
    actions: ["write:email"]
    requiresApproval: true
`;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/**
 * Starts a gateway. `page` is where its dashboard is: the gateway itself, or, for a binary that was built without one,
 * the folder dashboard/ in front of it.
 * @param {Record<string, string>} [environment]
 */
export async function startGateway(environment = {}) {
  const binary = process.env.PUNK_TEST_BINARY;
  if (!binary) throw new Error("PUNK_TEST_BINARY is not set: it names the gateway to be tested");
  const folder = mkdtempSync(join(tmpdir(), "punk-dashboard-"));
  mkdirSync(join(folder, "policies"));
  writeFileSync(join(folder, "policies", "office.yaml"), POLICY);
  const port = Number(process.env.PUNK_TEST_PORT ?? (await freePort()));
  const child = spawn(binary, ["serve"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env.PATH, PUNK_PORT: String(port), PUNK_RATE_LIMIT_RPM: "0", PUNK_CHAT_RATE_LIMIT_RPM: "0", PUNK_LOG: "error", PUNK_DRAIN_SECONDS: "1", ...environment },
  });
  let said = "";
  child.stderr.on("data", (bytes) => { said = (said + bytes).slice(-4000); });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    const ready = await fetch(`${url}/ready`).then((answer) => answer.ok, () => false);
    if (ready) break;
    if (child.exitCode !== null || tries > 300) throw new Error(`the gateway did not start: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const own = await fetch(`${url}/`).then((answer) => answer.text());
  let front = null;
  let page = url;
  // While pages are worked on, PUNK_TEST_FOLDER=1 shows them as they lie in the folder, whatever the binary has inside.
  if (process.env.PUNK_TEST_FOLDER === "1" || !own.includes('id="app"')) {
    front = devServer(url).listen(0, "127.0.0.1");
    await once(front, "listening");
    page = `http://127.0.0.1:${front.address().port}`;
  }
  return {
    url, page, folder, servesItself: front === null,
    /** Calls the interface and gives status, headers and body. */
    async call(method, path, body, headers = {}) {
      const answer = await fetch(`${url}${path}`, { method, headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers }, body: body === undefined ? undefined : JSON.stringify(body) });
      const text = await answer.text();
      let json = null;
      try { json = JSON.parse(text); } catch { /* not every answer is JSON */ }
      return { status: answer.status, headers: answer.headers, json, text };
    },
    async stop() {
      front?.closeAllConnections();
      front?.close();
      if (child.exitCode === null) {
        child.kill("SIGTERM");
        const slow = setTimeout(() => child.kill("SIGKILL"), 8000);
        await once(child, "exit");
        clearTimeout(slow);
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
