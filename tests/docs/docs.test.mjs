// Every command in the documents is executed, and says what the document says it says. README.md here has the rules.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { blocks, says } from "./support/blocks.mjs";
import { Session } from "./support/session.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Narrows the run to documents with this in their path, for whoever writes one. */
const ONLY = process.env.PUNK_DOCS_ONLY ?? "";

const documents = ["README.md", ...readdirSync(join(ROOT, "docs"), { recursive: true }).map((path) => `docs/${path}`)]
  .filter((path) => path.endsWith(".md") && path.includes(ONLY))
  .sort();

const left = [];
let executed = 0;

for (const path of documents) {
  const text = readFileSync(join(ROOT, path), "utf8");
  const all = blocks(text);
  const commands = all.filter(({ kind, notRun }) => kind === "shell" && !notRun);
  left.push(...all.filter(({ notRun }) => notRun).map(({ line, notRun }) => `${path}:${line}: ${notRun}`));
  if (commands.length === 0) continue;
  test(path, { timeout: 300_000 }, async () => {
    const gateway = !/\bserve$/m.test(commands[0].text);
    const session = await Session.start({ gateway, keyed: /\$(PUNK_API_KEY|KEY)\b/.test(text), taught: /\$TEACH\b/.test(text) });
    try {
      await walk(session, all, (line) => `${relative(process.cwd(), join(ROOT, path))}:${line}`);
    } finally {
      await session.end();
    }
  });
}

/** Executes the blocks of one document, in order. */
async function walk(session, all, place) {
  let before = "";
  for (const block of all) {
    const { kind, text, line, notRun, first, exits = 0, stream, example } = block;
    if (notRun) continue;
    if (first) await passes(session, first, 0, `${place(line)}, what is done first`);
    if (kind === "file") session.write(block.file, text);
    if (kind === "shell") {
      before = await passes(session, text, exits, place(line), stream);
      executed += 1;
    }
    if (kind === "says" && !example) assert.ok(says(before, text), `${place(line)}: it says instead\n${before}`);
  }
}

async function passes(session, commands, exits, place, stream) {
  const { last, failed, said } = await session.run(commands, { stream });
  assert.ok(last === exits && failed === exits, `${place}: ended with ${failed || last}\n${commands}\n${said}`);
  return said;
}

after(() => {
  console.log(`${executed} blocks of commands were executed; not run:\n${left.map((one) => `  ${one}`).join("\n")}`);
});

test("only a few blocks are left alone", () => {
  assert.ok(left.length <= 20, `${left.length} are:\n${left.join("\n")}`);
});
