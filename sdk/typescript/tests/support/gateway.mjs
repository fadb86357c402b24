// The real gateway, as its binary: in a folder of its own, knowing nothing of the machine.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The binary under test. */
export const PUNK = process.env.PUNK_TEST_BINARY ?? fileURLToPath(new URL("../../../../target/debug/punk", import.meta.url));

const CONFIGURATION = `
[limits]
requests_per_minute = 0
chat_requests_per_minute = 0
ip_requests_per_minute = 0
[providers]
default = "mock"
mock.pace = "instant"
`;

/** Starts a gateway on a free port. `server` are lines of its `[server]`, `files` are put beside its configuration. */
export async function startGateway({ server = "", more = "", files = {} } = {}) {
  if (!existsSync(PUNK)) throw new Error(`${PUNK} is not there: build it with \`cargo build --bin punk\`, or set PUNK_TEST_BINARY`);
  const folder = await mkdtemp(join(tmpdir(), "punk-sdk-"));
  const configuration = `[server]\nport = 0\n${server}${CONFIGURATION}${more}`;
  for (const [name, text] of Object.entries({ ...files, "punk.toml": configuration })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const child = spawn(PUNK, ["serve"], { cwd: folder, env: { HOME: folder }, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (log += text));
  const ended = once(child, "exit");
  const said = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = / listens on (\S+)/.exec(line) ?? [];
      if (url) return url;
    }
    throw new Error(`the gateway ended before it listened: ${log}`);
  })();
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill();
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return { url: await said, folder, close };
  } catch (error) {
    await close();
    throw error;
  }
}
