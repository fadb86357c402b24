// The rules by which a document is read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { blocks, says } from "./support/blocks.mjs";

const read = (text) => blocks(text).map(({ kind, text: inside }) => [kind, inside]);

test("indented commands are executed, and what follows them is what they say", () => {
  const text = "Ask:\n\n    curl -i x \\\n      -d y\n\n    HTTP/1.1 200 OK\n\nThen\n\n    valid\n";
  assert.deepEqual(read(text), [["shell", "curl -i x \\\n  -d y"], ["says", "HTTP/1.1 200 OK"], ["other", "valid"]]);
});

test("fenced blocks are executed if they are a shell's", () => {
  assert.deepEqual(read("```sh\nls\n```\n\n```json\n{}\n```\n\ntext\n\n```yaml\na: 1\n```"), [["shell", "ls"], ["says", "{}"], ["other", "a: 1"]]);
});

test("blocks in lists are read as others are, and assignments are commands", () => {
  assert.deepEqual(read("1. Do:\n\n       punk serve\n\n2. And:\n\n       ask='x'\n       curl y\n"), [["shell", "punk serve"], ["shell", "ask='x'\ncurl y"]]);
});

test("comments say what cannot be seen", () => {
  const text = "<!-- test: first\nmkdir x\n-->\n<!-- test: exits 1 -->\n\n    punk verify x\n\n<!-- test: file a/b.yaml -->\n```yaml\na: 1\n```\n\n<!-- test: not run: it needs a key -->\n\n    curl x\n";
  const [verify, file, curl] = blocks(text);
  assert.deepEqual([verify.first, verify.exits], ["mkdir x", 1]);
  assert.deepEqual([file.kind, file.file, file.text], ["file", "a/b.yaml", "a: 1"]);
  assert.equal(curl.notRun, "it needs a key");
});

test("a comment that nobody understands, or that stands before no block, is refused", () => {
  assert.throws(() => blocks("<!-- test: skip -->\n\n    punk x\n"), /nobody understands `skip`/);
  assert.throws(() => blocks("<!-- test: stream -->\n\nSome text.\n"), /before no block/);
  assert.throws(() => blocks("<!-- test: not run: -->\n\n    punk x\n"), /nobody understands/);
});

test("contributors' commands are not run by themselves, with a reason", () => {
  assert.deepEqual(blocks("    cargo xtask test\n")[0].notRun, "it is what runs this test");
  assert.equal(blocks("    cargo run --release -- serve\n")[0].notRun, undefined);
});

test("what is shown may differ in numbers, ids and white space alone", () => {
  assert.ok(says("valid\n  run    run_01m7gttngzfeht339zxhfhm4zz\n  events 12, all\n", "valid\n  run          run_01m7gttngzfeht339zxhfhm4zb\n  events       4, …"));
  assert.ok(says('{"erased":true,"runs":3}', '{ "erased": true, "runs": 12 }'));
  assert.ok(!says("invalid: nothing", "valid\n  run"));
  assert.ok(!says("broken (event-hash)", "broken (leaf)"));
});
