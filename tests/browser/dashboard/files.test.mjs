// What the dashboard weighs, and what its files may not hold.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { needed } from "../support/preloads.mjs";

const FOLDER = fileURLToPath(new URL("../../../dashboard", import.meta.url));
const FILES = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));
const SERVED = FILES.filter((path) => /\.(html|js|css|woff2)$/.test(path));
const OWN = SERVED.filter((path) => !path.includes("/vendor/") && path.endsWith(".js"));

test("all of it is at most 300 KB compressed", () => {
  const size = SERVED.reduce((sum, path) => sum + (path.endsWith(".woff2") ? readFileSync(path).length : gzipSync(readFileSync(path)).length), 0);
  console.log(`${SERVED.length} files, ${(size / 1024).toFixed(1)} KB compressed`);
  assert.ok(size <= 300 * 1024, `${size} bytes`);
});

test("no file turns text into markup or code", () => {
  const found = OWN.flatMap((path) => readFileSync(path, "utf8").split("\n").filter((line) => !line.trimStart().startsWith("//") && /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|dangerouslySetInnerHTML|javascript:/.test(line)).map((line) => `${path}: ${line.trim()}`));
  assert.deepEqual(found, []);
});

test("the page has no inline script, no inline style and no address of another host", () => {
  const page = readFileSync(join(FOLDER, "index.html"), "utf8");
  assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)/);
  assert.doesNotMatch(page, /<style|\sstyle=|\son[a-z]+=/);
  const hosts = [...OWN, join(FOLDER, "index.html")].flatMap((path) => [...readFileSync(path, "utf8").matchAll(/https?:\/\/[^\s"'`)]+/g)].map(([url]) => url)).filter((url) => !url.startsWith("http://www.w3.org/"));
  assert.deepEqual(hosts, []);
});

test("every module that the page preloads is there", () => {
  const page = readFileSync(join(FOLDER, "index.html"), "utf8");
  const missing = [...page.matchAll(/"\/assets\/([^"]+)"/g)].map(([, name]) => name).filter((name) => !FILES.includes(join(FOLDER, name)));
  assert.deepEqual(missing, []);
});

test("every module of the first page is preloaded, and no other", () => {
  const page = readFileSync(join(FOLDER, "index.html"), "utf8");
  const preloaded = [...page.matchAll(/rel="modulepreload" href="\/assets\/([^"]+)"/g)].map(([, name]) => name);
  assert.deepEqual(preloaded.sort(), needed("main.js", "pages/overview.js").filter((name) => name !== "main.js"));
});
