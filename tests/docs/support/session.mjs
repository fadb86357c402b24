// One document's session: a shell in a folder of its own, with a gateway on a port of its own.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const BINARY = process.env.PUNK_TEST_BINARY ?? here("../../../target/debug/punk");
/** The key of a gateway that wants one. */
const KEY = "pk_live_the_documents_own_key_0123456789";
/** A command that waits for something would otherwise hold the run for ever. */
const PATIENCE_MS = 60_000;

/** What the documents call servers that a reader has, and where the test has them. */
async function replacements(port) {
  const all = [[/\b(127\.0\.0\.1|localhost):4100\b/g, `$1:${port}`]];
  const { PUNK_TEST_POSTGRES_URL: postgres, PUNK_TEST_REDIS_URL: redis } = process.env;
  let made;
  if (postgres) all.push([/postgres:\/\/punk@db\.internal\/punk/g, () => (made ??= database(postgres, port))]);
  if (redis) all.push([/rediss:\/\/punk:…@redis\.internal\/0/g, redis]);
  return all;
}

/** A database that only this session uses; made when it is first named. */
function database(server, port) {
  const name = `punk_docs_${port}`;
  execFileSync("psql", [server, "-qc", `DROP DATABASE IF EXISTS ${name}`, "-c", `CREATE DATABASE ${name}`]);
  return server.replace(/\/[^/]*$/, `/${name}`);
}

export class Session {
  #folder = mkdtempSync(join(tmpdir(), "punk-docs-"));
  #count = 0;
  #ids = new Map();
  #shell;
  #lines;
  #replacements;

  /** Where the reader works. */
  get folder() {
    return join(this.#folder, "reader");
  }

  /** Starts the shell; and a gateway, unless the document starts one. It wants a key if `keyed`, and is asked more than people ask if `taught`. */
  static async start({ gateway, keyed, taught }) {
    const session = new Session();
    const port = await freePort();
    session.#replacements = await replacements(port);
    const [bin, kept] = ["bin", "kept"].map((name) => join(session.#folder, name));
    for (const folder of [bin, kept, session.folder]) mkdirSync(folder);
    symlinkSync(BINARY, join(bin, "punk"));
    session.#packages();
    const tools = [process.env.PUNK_DOCS_PATH, "/usr/local/bin:/usr/bin:/bin"].filter(Boolean).join(":");
    const env = { PATH: `${bin}:${tools}`, HOME: session.folder, DOCS: kept, TEACH: here("teach.mjs"), CHECKOUT: here("../../.."), PUNK_PORT: String(port), LANG: "C.UTF-8" };
    // A group of its own, so that whatever a document leaves running ends with it.
    session.#shell = spawn("bash", ["--norc"], { cwd: session.folder, env, stdio: ["pipe", "pipe", "inherit"], detached: true });
    // A shell that was ended for being late is told so by what it did not say.
    session.#shell.stdin.on("error", () => {});
    session.#lines = createInterface({ input: session.#shell.stdout })[Symbol.asyncIterator]();
    session.#shell.stdin.write(`source ${here("session.sh")}\n`);
    const first = keyed ? `KEY=${KEY}\nexport PUNK_API_KEY=${KEY}\n` : "";
    const unlimited = taught ? "export PUNK_RATE_LIMIT_RPM=0 PUNK_CHAT_RATE_LIMIT_RPM=0 PUNK_IP_RATE_LIMIT_RPM=0\n" : "";
    const { last, failed, said } = await session.run(first + unlimited + (gateway ? "punk serve" : ":"));
    if (last || failed) throw new Error(`no gateway: ${said}`);
    return session;
  }

  /** Executes commands; gives how the last one ended, the first status that was not 0, and what all of them said. */
  async run(commands, { stream = false } = {}) {
    this.#count += 1;
    const [script, output] = ["sh", "out"].map((kind) => join(this.#folder, "kept", `${this.#count}.${kind}`));
    writeFileSync(script, this.#resolved(commands));
    this.#shell.stdin.write(`__stream=${stream ? 1 : ""}\n__run ${script} ${output}\n`);
    const late = setTimeout(() => this.#kill(), PATIENCE_MS);
    const { value } = await this.#lines.next();
    clearTimeout(late);
    const said = readFileSync(output, "utf8");
    const [, last, failed] = /^ended (\d+) (\d+)$/.exec(value ?? "") ?? [, "124", "124"];
    for (const [id, kind] of said.matchAll(/\b([a-z]{3})_[0-9a-z]{26}\b/g)) this.#ids.set(kind, id);
    for (const [, run] of said.matchAll(/^x-punk-run-id: (\S+)/gim)) this.#ids.set("<run id>", run);
    return { last: Number(last), failed: Number(failed), said };
  }

  /** Puts a file beside the reader's others. */
  write(name, text) {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true });
    writeFileSync(join(this.folder, name), `${this.#resolved(text)}\n`);
  }

  async end() {
    this.#kill();
    if (this.#shell.exitCode === null && this.#shell.signalCode === null) await once(this.#shell, "exit");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Ends the shell and whatever it started. */
  #kill() {
    try {
      process.kill(-this.#shell.pid, "SIGKILL");
    } catch {
      // Nothing was left of it.
    }
  }

  /** What the text says here: this session's servers, and the ids that it has heard of. */
  #resolved(text) {
    const placed = this.#replacements.reduce((now, [from, to]) => now.replace(from, to), text);
    return placed.replace(/<run id>|\b([a-z]{3})_…/g, (all, kind) => {
      const id = this.#ids.get(kind ?? all);
      if (!id) throw new Error(`${all} stands for an id, and nothing so far has said one`);
      return id;
    });
  }

  /** Node looks for packages above the script; the reader has installed those that the documents speak of. */
  #packages() {
    const installed = process.env.PUNK_DOCS_NODE_MODULES;
    const folder = join(this.#folder, "node_modules");
    mkdirSync(join(folder, "@punk"), { recursive: true });
    symlinkSync(here("../../../sdk/typescript"), join(folder, "@punk/sdk"));
    for (const name of installed ? readdirSync(installed) : []) symlinkSync(join(installed, name), join(folder, name));
  }
}

/** A port that nobody listens on. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
