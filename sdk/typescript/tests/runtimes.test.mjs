// The suite in the other runtimes that the SDK promises to work in: the oldest Node, Bun, Deno.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { arch } from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cases } from "./suite/index.mjs";
import { startWorld } from "./support/world.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const packages = (path) => here(`node_modules/${path}`);
const machine = arch === "arm64" ? { bun: "aarch64", other: "arm64" } : { bun: "x64", other: "x64" };

/** How each is called. Their packages have the programs in them; nothing is downloaded from elsewhere. */
const RUNTIMES = {
  "Node 18": [packages(`node-linux-${machine.other}/bin/node`)],
  Bun: [packages(`@oven/bun-linux-${machine.bun}/bin/bun`), "run"],
  Deno: [packages(`@deno/linux-${machine.other}-glibc/deno`), "run", "--allow-net", "--allow-env", "--allow-read", "--no-prompt"],
};

for (const [runtime, [program, ...flags]] of Object.entries(RUNTIMES)) {
  test(runtime, { timeout: 180_000 }, async (t) => {
    assert.ok(existsSync(program), `${program} is not there: \`npm ci\` in tests/`);
    const { world, close } = await startWorld();
    try {
      const env = { ...process.env, PUNK_SDK_WORLD: JSON.stringify(world), NO_COLOR: "1" };
      const options = { env, cwd: here("."), maxBuffer: 1 << 26 };
      const { stdout } = await promisify(execFile)(program, [...flags, here("support/runner.mjs")], options);
      const results = JSON.parse(/^results (.*)$/m.exec(stdout)[1]);
      assert.deepEqual(Object.keys(results), cases.map(({ name }) => name));
      for (const [name, wrong] of Object.entries(results)) await t.test(name, () => assert.equal(wrong, null));
    } finally {
      await close();
    }
  });
}
