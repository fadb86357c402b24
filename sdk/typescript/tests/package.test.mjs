// What is published: the files, the types, and that they come from where they say.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { GENERATED, render } from "../scripts/generate.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path) => readFileSync(join(ROOT, path), "utf8");
const manifest = JSON.parse(read("package.json"));

test("the generated types are those of the gateway's description", async () => {
  assert.equal(readFileSync(GENERATED, "utf8"), await render(), "run `npm run generate` and commit the file");
});

test("the package has no dependencies, and every entry of it is there", () => {
  for (const kind of ["dependencies", "peerDependencies", "optionalDependencies"]) assert.equal(manifest[kind], undefined, kind);
  const { types, default: module } = manifest.exports["."];
  for (const path of [types, module, manifest.main, manifest.types]) assert.ok(existsSync(join(ROOT, path)), path);
  assert.deepEqual([manifest.type, manifest.sideEffects, manifest.license], ["module", false, "Apache-2.0"]);
});

test("the modules import nothing but each other", () => {
  const imports = listed().filter((path) => path.endsWith(".js")).flatMap((path) => [...read(path).matchAll(/(?:from|import)\s*\(?"([^"]+)"/g)]);
  assert.ok(imports.length > 0, "no import was found: has their form changed?");
  for (const [, name] of imports) assert.match(name, /^\.\//);
});

test("what is packed is the modules, their types, their sources and their licence", () => {
  const files = listed();
  const expected = ["LICENSE", "README.md", "package.json"];
  for (const name of ["canonical", "chat", "client", "generated/openapi", "http", "index", "tool", "types"]) {
    expected.push(`src/${name}.ts`, ...["d.ts", "d.ts.map", "js", "js.map"].map((kind) => `dist/${name}.${kind}`));
  }
  assert.deepEqual(files.sort(), expected.sort());
  assert.equal(read("LICENSE"), readFileSync(join(ROOT, "../../LICENSE"), "utf8"));
});

test("no lock file names the registry that a package happened to come from", () => {
  for (const path of ["package-lock.json", "tests/package-lock.json"]) assert.doesNotMatch(read(path), /"resolved"|https?:\/\/[^"]*\.tgz/);
});

for (const settings of [{ module: "nodenext" }, { module: "esnext", moduleResolution: "bundler" }]) {
  test(`a program in strict TypeScript compiles against it (${settings.module})`, () => {
    compiles(read("tests/types/consumer.ts"), settings);
  });
}

test("the examples of the README compile", () => {
  const examples = [...read("README.md").matchAll(/^```ts\n([^]*?)^```/gm)].map(([, text]) => text);
  assert.ok(examples.length > 5, "no examples were found: has their form changed?");
  // What an example takes from the one before it, or from the program around it.
  const around = `
    import { Punk, canonicalJson } from "@punk/sdk";
    declare const punk: Punk, runId: string, prompt: string, crm: { find(id: string): Promise<{ name: string }> };
    declare const process: { env: Record<string, string | undefined> }, console: { log(...values: unknown[]): void };
    declare function writeFile(name: string, text: string): Promise<void>;`;
  const inside = examples.map((text, at) => `export async function example${at}() {\n${text.replace(/^import .*$/gm, "")}\n}`);
  compiles([around, ...inside].join("\n"), { module: "nodenext" });
});

/** Compiles a program, without the types of a browser and of Node: one that has neither can use the SDK all the same. */
function compiles(program, settings) {
  const folder = mkdtempSync(join(tmpdir(), "punk-sdk-types-"));
  try {
    mkdirSync(join(folder, "node_modules/@punk"), { recursive: true });
    symlinkSync(ROOT, join(folder, "node_modules/@punk/sdk"));
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false };
    const compilerOptions = { target: "es2022", lib: ["es2022"], types: [], noEmit: true, ...strict, ...settings };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    writeFileSync(join(folder, "program.ts"), program);
    const compiled = spawnSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "--project", folder], { encoding: "utf8" });
    assert.equal(compiled.status, 0, compiled.stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The files that `npm pack` would pack. */
function listed() {
  // Without its scripts: another test may be loading what a new build would take away.
  const text = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return JSON.parse(text)[0].files.map(({ path }) => path);
}
