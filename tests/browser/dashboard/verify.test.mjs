// The dashboard's verifier against the published vectors. It runs on WebCrypto, which Node and browsers share.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { verifyPacket } from "../../../dashboard/verify/packet.js";
import { TrustError, readTrust } from "../../../dashboard/verify/trust.js";

// What `punk verify` refuses after the steps that a browser makes: the rows, the policies decided again, and so on.
const LATER = ["run-row", "side-effect-row", "audit-row", "policy-event", "policy-missing", "verdict", "policy-extra",
  "artifact-event", "artifact-missing", "artifact-replay", "artifact-extra", "costs"];
const VECTORS = readFileSync(new URL("../../vectors/evidence.jsonl", import.meta.url), "utf8").trim().split("\n").map((line) => JSON.parse(line));
const trusts = new Map();

async function judge({ packet, trust }) {
  if (!trusts.has(trust)) trusts.set(trust, await readTrust(trust).catch((error) => { if (error instanceof TrustError) return "trust-file"; throw error; }));
  const known = trusts.get(trust);
  if (known === "trust-file") return known;
  const { valid, findings } = await verifyPacket(Buffer.from(packet, "base64"), known);
  return valid ? "valid" : findings.at(-1).code;
}

test("every published vector is judged as the format says, up to the steps that take an engine", async () => {
  const wrong = [];
  const seen = new Set();
  for (const vector of VECTORS) {
    const got = await judge(vector);
    seen.add(vector.expect);
    const wanted = LATER.includes(vector.expect) ? ["valid", "policy-bytes", "artifact-bytes", vector.expect] : [vector.expect];
    if (!wanted.includes(got)) wrong.push(`${vector.name}: expected ${vector.expect}, got ${got}`);
  }
  assert.deepEqual(wrong.slice(0, 5), []);
  assert.ok(VECTORS.length >= 40 && seen.size > 20, `${VECTORS.length} vectors with ${seen.size} results are too few to mean anything`);
});
