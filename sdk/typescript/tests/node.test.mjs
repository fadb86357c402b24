// The suite in this Node, and what only it can look at: the binary's verdict on a packet that the SDK fetched.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as sdk from "../dist/index.js";
import { attempt, cases } from "./suite/index.mjs";
import { PUNK } from "./support/gateway.mjs";
import { startWorld } from "./support/world.mjs";

let started;
before(async () => {
  started = await startWorld();
});
after(() => started?.close());

for (const { name } of cases) {
  test(name, { timeout: 60_000 }, async () => {
    assert.equal(await attempt(name, sdk, started.world), null);
  });
}

test("a packet that the SDK fetched and wrote is verified offline", async () => {
  const { world, open } = started;
  const punk = new sdk.Punk({ baseUrl: world.open });
  // Names that are numbers are where JavaScript's order of members is not the canonical one.
  const { runId } = await punk.chat({ model: "mock-small", messages: [{ role: "user", content: "Grüße, 你好 👋" }], metadata: { 9: "a", 10: "b" } });
  const run = (...command) => execFileSync(PUNK, command, { cwd: open.folder, env: { HOME: open.folder }, encoding: "utf8" });
  writeFileSync(join(open.folder, "packet.json"), sdk.canonicalJson(await punk.evidencePacket(runId)));
  writeFileSync(join(open.folder, "keys.txt"), run("keys", "trust"));
  assert.match(run("verify", "packet.json", "--trust", "keys.txt"), /^valid/);
});
