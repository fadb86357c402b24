// The blocks of a document: what is to be executed, what it is said to say, and what a comment says about either.
//
// Pure: text in, blocks out. `blocks.test.mjs` holds the rules.

/** What an indented block begins with when it is one of commands. */
const PROGRAMS = new Set(
  "aider bun cargo cat cd claude codex cp curl deno echo export jq mkdir mv node npm npx pip pass printf punk python python3 sed systemctl".split(" "),
);
const SHELLS = new Set(["sh", "bash", "shell"]);

/** Commands for contributors: they are what runs this, or take an hour. */
const NOT_HERE = [
  [/^cargo xtask\b/, "it is what runs this test"],
  [/^cargo run --release -p gateway-bench\b/, "it measures for an hour, beside other gateways"],
];

/**
 * A block: `line` (from 1), `kind` (`shell`, `says`, `file` or `other`), `text`, `language`, and of its comments: `first`
 * (commands), `file`, `exits`, `stream`, `example`, `notRun` (a reason).
 */
export function blocks(document) {
  const found = [];
  let notes = {};
  // Whether nothing but white space is between here and the last shell block.
  let after = false;
  for (const part of parts(document)) {
    if (part.comment !== undefined) {
      notes = { ...notes, ...note(part.comment, part.line) };
    } else if (part.block === undefined) {
      if (Object.keys(notes).length) throw new Error(`line ${part.line}: a comment for the test stands before no block`);
      after = false;
    } else {
      const block = { line: part.line, language: part.language, text: part.block, ...notes };
      block.kind = kind(block, after);
      if (block.kind === "shell") block.notRun ??= NOT_HERE.find(([start]) => start.test(block.text))?.[1];
      found.push(block);
      after = block.kind === "shell" || (after && block.kind === "says");
      notes = {};
    }
  }
  return found;
}

function kind(block, after) {
  if (block.file) return "file";
  const word = /^\S+/.exec(block.text)?.[0] ?? "";
  const isShell = block.language === undefined ? PROGRAMS.has(word) || /^[A-Za-z_]\w*=/.test(word) : SHELLS.has(block.language);
  if (isShell) return "shell";
  return after ? "says" : "other";
}

/** What a comment says of the block that follows it. */
function note(comment, line) {
  const text = comment.trim();
  const [, commands] = /^first\n([^]*)$/.exec(text) ?? [];
  if (commands) return { first: commands };
  const [, notRun] = /^not run: (.+)$/s.exec(text) ?? [];
  if (notRun) return { notRun };
  const [, exits] = /^exits (\d+)$/.exec(text) ?? [];
  if (exits) return { exits: Number(exits) };
  const [, file] = /^file (\S+)$/.exec(text) ?? [];
  if (file) return { file };
  if (text === "stream") return { stream: true };
  if (text === "for example") return { example: true };
  throw new Error(`line ${line}: nobody understands \`${text}\`; tests/docs/README.md has what a comment may say`);
}

/** The document in pieces: comments for the test, blocks, and lines of anything else. Blank lines are none. */
function* parts(document) {
  const lines = document.split("\n");
  const indented = (line) => /^ {4}/.test(line ?? "");
  for (let at = 0; at < lines.length; at += 1) {
    const line = at + 1;
    const fence = /^(\s*)(`{3,})(\w*)/.exec(lines[at]);
    if (fence) {
      const from = at + 1;
      do at += 1;
      while (at < lines.length && lines[at].trim() !== fence[2]);
      yield { line, language: fence[3], block: dedent(lines.slice(from, at)) };
    } else if (lines[at].trimStart().startsWith("<!-- test:")) {
      const from = at;
      while (!lines[at].includes("-->")) at += 1;
      yield { line, comment: lines.slice(from, at + 1).join("\n").replace(/^\s*<!-- test:\s*/, "").replace(/-->[^]*$/, "") };
    } else if (indented(lines[at]) && (at === 0 || blank(lines[at - 1]) || lines[at - 1].includes("-->"))) {
      const from = at;
      while (indented(lines[at + 1])) at += 1;
      yield { line, block: dedent(lines.slice(from, at + 1)) };
    } else if (!blank(lines[at])) {
      yield { line };
    }
  }
}

const blank = (line) => line.trim() === "";

/** The lines without what they are all indented by. */
function dedent(lines) {
  const depth = Math.min(...lines.filter((line) => !blank(line)).map((line) => /^ */.exec(line)[0].length));
  return lines.map((line) => line.slice(Number.isFinite(depth) ? depth : 0)).join("\n");
}

/** Whether `said` has in it what a document shows: `…` is anything, numbers and ids are any, white space is any. */
export function says(said, shown) {
  const loose = (piece) =>
    piece
      .split(/(…|\b[a-z]{2,3}_[0-9a-z]{16,}\b|\d+(?:[.,]\d+)*)/)
      .map((one, index) => (index % 2 === 0 ? escaped(one) : one === "…" ? "[^]*?" : /^\d/.test(one) ? "\\d+(?:[.,]\\d+)*" : "\\w+"))
      .join("");
  return new RegExp(shown.trim().split(/\s+/).map(loose).join("\\s*")).test(said);
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
