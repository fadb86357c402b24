// Verifies an evidence packet in the browser: that the events are a chain, that the tenant's log contains it, that the
// statement is about this packet, and, with a trust file, that the log's key signed all of that.
//
// The steps are those of docs/reference/evidence-packet.md, §8, up to the statement. What comes after it (policies decided
// again, learned programs executed again, costs added up) takes `punk verify`; `LEFT_OUT` says so to whoever looks.
import { hexDigest, toBase64 } from "./bytes.js";
import { canonical, hasShape, isDigest, isInteger, isName, isObject, isRun, isSalt, isString, isTenant, isTime, parseJson } from "./canonical.js";
import { LOG_KEY, isIncluded, readNote, readProof, signatureHolds } from "./note.js";

/** @typedef {{ step: string, title: string, state: "held" | "broken" | "skipped", detail: string, code?: string }} Finding */
/** @typedef {import("./note.js").Proof} Proof */
/** @typedef {import("./trust.js").Trust} Trust */

export const LEFT_OUT = "Decisions are not decided again and learned programs are not executed again here; punk verify does both, offline.";

export class Broken extends Error {
  /** @param {string} code @param {string} detail */
  constructor(code, detail) {
    super(detail);
    this.code = code;
  }
}

/** @param {unknown} condition @param {string} code @param {string} detail @returns {asserts condition} */
function must(condition, code, detail) {
  if (!condition) throw new Broken(code, detail);
}

/** @param {Uint8Array} bytes */
export function readPacket(bytes) {
  let text, value;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = parseJson(text);
  } catch (error) {
    throw new Broken("not-json", /** @type {Error} */ (error).message);
  }
  let expected;
  try { expected = canonical(value); } catch (error) { throw new Broken("not-canonical", /** @type {Error} */ (error).message); }
  must(expected === text, "not-canonical", "the bytes are not the canonical form of their value");
  checkShape(value);
  return value;
}

const isField = (/** @type {any} */ value) => hasShape(value, { salt: isSalt, value: () => true }) || hasShape(value, { withheld: isDigest });
const isPayload = (/** @type {any} */ value) => isObject(value) && Object.keys(value).every((name) => isName(name) && isField(value[name]));
const isEvent = (/** @type {any} */ value) => hasShape(value, { at: isTime, hash: isDigest, payload: isPayload, seq: isInteger, type: isName });
const isLeaf = (/** @type {any} */ value) => hasShape(value, { head: isDigest, proof: isString, seq: isInteger });
const isTexts = (/** @type {any} */ value) => isObject(value) && Object.keys(value).every((name) => isDigest(name) && isString(value[name]));
const someOf = (/** @type {(value: any) => unknown} */ test) => (/** @type {any} */ value) => Array.isArray(value) && value.length > 0 && value.every(test);

/** @type {Record<string, (value: any) => unknown>} */
const PACKET = {
  artifacts: isTexts, audit: Array.isArray, events: someOf(isEvent), format: isString, leaves: someOf(isLeaf), policies: isTexts,
  run: (value) => isObject(value) && isRun(value.id), sideEffects: Array.isArray, statement: isString, tenant: isTenant,
};

/** @param {any} packet */
function checkShape(packet) {
  must(isObject(packet), "wrong-shape", "not an object");
  must(packet.format === "punk.evidence/1", "unknown-format", "format is not punk.evidence/1");
  for (const [name, test] of Object.entries(PACKET)) must(name in packet && test(packet[name]), "wrong-shape", `member ${name}`);
  must(hasShape(packet, PACKET), "wrong-shape", "a member that the format does not know");
}

/** @param {any} event @param {string} prev @param {string} tenant @param {string} run */
async function eventHash(event, prev, tenant, run) {
  const digests = Object.create(null);
  for (const [name, field] of Object.entries(event.payload)) {
    const known = /** @type {any} */ (field);
    digests[name] = known.withheld ?? (await hexDigest(canonical([known.salt, name, known.value])));
  }
  const { at, seq, type } = event;
  return hexDigest(canonical({ at, payload_digest: await hexDigest(canonical(digests)), prev, run, seq, tenant, type }));
}

/** @param {any} packet */
async function checkChain({ events, tenant, run }) {
  let prev = "0".repeat(64);
  for (const [i, event] of events.entries()) {
    must(event.seq === i + 1, "event-order", `event ${i + 1} has seq ${event.seq}`);
    must(event.hash === (await eventHash(event, prev, tenant, run.id)), "event-hash", `event ${event.seq} is not what its hash says`);
    prev = event.hash;
  }
  const number = (/** @type {string} */ type) => events.filter((/** @type {any} */ event) => event.type === type).length;
  must(events[0].type === "run.started" && number("run.finished") > 0, "incomplete", "the run has no beginning or no end");
  must(number("run.started") === 1 && number("run.finished") === 1, "lifecycle", "the run begins or ends twice");
}

/** @param {any} packet */
function checkLeaves({ events, leaves }) {
  leaves.forEach((/** @type {any} */ leaf, /** @type {number} */ i) => {
    must(i === 0 || leaf.seq > leaves[i - 1].seq, "leaf-order", `leaf ${i}: seq ${leaf.seq}`);
    must(events[leaf.seq - 1]?.hash === leaf.head, "leaf-head", `leaf ${i}: seq ${leaf.seq}`);
  });
  must(leaves[leaves.length - 1].seq === events.length, "uncovered", `events after seq ${leaves[leaves.length - 1].seq}`);
}

/** @param {any} packet @param {Trust | null} trust @returns {Promise<Proof[]>} */
async function checkProofs({ leaves, run, tenant }, trust) {
  /** @type {Proof[]} */
  const proofs = [];
  for (const [i, { head, proof: text, seq }] of leaves.entries()) {
    const proof = readProof(text);
    must(proof !== null, "proof-text", `leaf ${i}`);
    if (i === 0) {
      must(proof.origin.endsWith(`/${tenant}`), "wrong-origin", `${proof.origin} is not a log of ${tenant}`);
      if (trust) await checkCheckpoint(proof, trust);
    } else {
      must(proof.checkpoint === proofs[0].checkpoint, "checkpoint-differs", `leaf ${i}`);
    }
    must(i === 0 || proof.index > proofs[i - 1].index, "leaf-order", `leaf ${i}: index ${proof.index}`);
    must(await isIncluded(canonical({ head, run: run.id, seq }), proof), "inclusion", `leaf ${i} does not lead to the root`);
    proofs.push(proof);
  }
  return proofs;
}

/** @param {Proof} proof @param {Trust} trust */
async function checkCheckpoint({ origin, signatures, text }, trust) {
  const keys = [...trust.logs.filter((key) => key.name === origin), ...trust.witnesses];
  const signed = new Set();
  for (const line of signatures) signed.add(await checkSignature(line, text, keys));
  must([...signed].some((key) => key.type === LOG_KEY), "unsigned", "no log key signed the checkpoint");
  must(trust.quorumMet(signed), "quorum", "too few witnesses signed the checkpoint");
}

/** @param {import("./note.js").SignatureLine} line @param {string} text @param {import("./note.js").Key[]} keys */
async function checkSignature(line, text, keys) {
  const candidates = keys.filter((key) => key.name === line.name && key.id === line.id);
  must(candidates.length > 0, "unknown-key", `the trust file has no key ${line.name}+${line.id}`);
  for (const key of candidates) if (await signatureHolds(key, text, line.bytes)) return key;
  throw new Broken("bad-signature", `${line.name}+${line.id}`);
}

/** @param {any} packet @param {Proof[]} proofs @param {Trust | null} trust */
async function checkStatement(packet, proofs, trust) {
  const note = readNote(packet.statement);
  must(note !== null && note.signatures.length === 1, "statement-text", "not a note with one signature");
  const { origin, root, size } = proofs[0];
  const lines = [
    "punk evidence statement v1", origin, `run ${packet.run.id}`, `tree ${size} ${toBase64(root)}`, `events ${packet.events.length}`,
    ...packet.leaves.map((/** @type {any} */ leaf, /** @type {number} */ i) => `leaf ${proofs[i].index} ${leaf.seq} ${leaf.head}`),
    ...Object.keys(packet.policies).sort().map((digest) => `policy ${digest}`),
    ...Object.keys(packet.artifacts).sort().map((digest) => `artifact ${digest}`),
  ];
  must(note.text === `${lines.join("\n")}\n`, "statement-differs", "the statement is about something else");
  if (trust) await checkSignature(note.signatures[0], note.text, trust.logs.filter((key) => key.name === origin));
}

/** @param {any} packet */
async function checkTexts(packet) {
  for (const [member, code] of [["policies", "policy-bytes"], ["artifacts", "artifact-bytes"]]) {
    for (const [digest, text] of Object.entries(packet[member])) must((await hexDigest(/** @type {string} */ (text))) === digest, code, digest);
  }
}

/**
 * Checks a packet and says step by step what held. Without a trust file signatures are skipped, and said to be.
 * @param {Uint8Array} bytes @param {Trust | null} trust @param {any[]} [shown] the events that the page shows
 * @returns {Promise<{ valid: boolean, findings: Finding[], packet: any }>}
 */
export async function verifyPacket(bytes, trust, shown) {
  /** @type {Finding[]} */
  const findings = [];
  let packet = /** @type {any} */ (null);
  /** @type {Proof[]} */
  let proofs = [];
  /** @type {Array<[string, string, () => Promise<string> | string]>} */
  const steps = [
    ["bytes", "The file is in its one canonical form", () => { packet = readPacket(bytes); return `${bytes.length.toLocaleString("en")} bytes`; }],
    ["chain", "Every event is unaltered and in order", async () => { await checkChain(packet); return `${packet.events.length} events, each bound to the one before`; }],
    ["leaves", "The log's leaves cover the whole run", () => { checkLeaves(packet); return `${packet.leaves.length} leaf${packet.leaves.length === 1 ? "" : "s"}`; }],
    ["inclusion", "The tenant's log contains them", async () => { proofs = await checkProofs(packet, trust); return `at ${proofs.map((proof) => proof.index).join(", ")} of a tree of ${proofs[0].size}`; }],
    ["statement", "The statement is about exactly this", async () => { await checkStatement(packet, proofs, trust); return "run, tree, events, policies and programs agree"; }],
    ["texts", "Policies and programs are those that were recorded", async () => { await checkTexts(packet); return `policies: ${Object.keys(packet.policies).length}, programs: ${Object.keys(packet.artifacts).length}`; }],
  ];
  if (shown) steps.push(["shown", "This page shows what the packet proves", () => checkShown(packet, shown)]);
  for (const [step, title, check] of steps) {
    try {
      findings.push({ step, title, state: "held", detail: await check() });
    } catch (error) {
      const broken = error instanceof Broken ? error : new Broken("verifier-error", String(error));
      findings.push({ step, title, state: "broken", detail: broken.message, code: broken.code });
      return { valid: false, findings, packet };
    }
  }
  findings.push(trust
    ? { step: "signature", title: "The log's key signed it", state: "held", detail: proofs[0].signatures.map((line) => `${line.name}+${line.id}`).join(", ") }
    : { step: "signature", title: "The log's key signed it", state: "skipped", detail: "Give a trust file to have signatures checked." });
  return { valid: true, findings, packet };
}

/** What the page got is another answer of the same gateway: it has to say the same. @param {any} packet @param {any[]} shown */
function checkShown(packet, shown) {
  must(shown.length <= packet.events.length, "shown", "the page shows more events than the packet has");
  for (const event of shown) {
    const proven = packet.events[event.seq - 1];
    must(proven?.hash === event.hash && proven.type === event.type && proven.at === event.at, "shown", `event ${event.seq} is shown otherwise`);
    for (const [name, value] of Object.entries(event.payload ?? {})) {
      const field = proven.payload[name];
      must(field && ("withheld" in field || canonical(field.value) === canonical(value)), "shown", `event ${event.seq}: ${name} is shown otherwise`);
    }
  }
  return `${shown.length} events, field by field`;
}
