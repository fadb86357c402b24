// An independent verifier of evidence packets, written from docs/reference/evidence-packet.md alone.
//
//   node verify.mjs <packet.json> <trust.txt>   prints "valid" or "broken <code>: <detail>"
//   node verify.mjs --batch <vectors.jsonl>     compares with expected results, for a test harness
//
// Each function below is one step of §8, in that order; the first breach is thrown as Broken and becomes the result.

import { createReadStream, readFileSync, realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import {
  canonical, hasShape, hexDigest, isDigest, isInteger, isName, isObject, isRun, isSalt, isString, isTenant, isTime, parseJson,
} from './canonical.mjs';
import { LOG_KEY, isIncluded, readNote, readProof, signatureHolds } from './note.mjs';
import { replay } from './policy.mjs';
import { TrustError, readTrust } from './trust.mjs';

class Broken extends Error {
  constructor(code, detail) {
    super(detail);
    this.code = code;
  }
}

function must(condition, code, detail) {
  if (!condition) throw new Broken(code, detail);
}

const sameValue = (a, b) => canonical(a) === canonical(b);
const eventsOf = (events, type) => events.filter((event) => event.type === type);

// ---- bytes

function parseBytes(bytes) {
  let text, value;
  try {
    // ignoreBOM means "leave it in", where the JSON grammar refuses it
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = parseJson(text);
  } catch (error) {
    throw new Broken('not-json', error.message);
  }
  let expected;
  try { expected = canonical(value); } catch (error) { throw new Broken('not-canonical', error.message); }
  must(expected === text, 'not-canonical', 'the bytes are not the canonical form of their value');
  return value;
}

// ---- format and shape

const isField = (value) => hasShape(value, { salt: isSalt, value: () => true }) || hasShape(value, { withheld: isDigest });
const isPayload = (value) => isObject(value) && Object.keys(value).every((name) => isName(name) && isField(value[name]));
const isEvent = (value) => hasShape(value, { at: isTime, hash: isDigest, payload: isPayload, seq: isInteger, type: isName });
const isLeaf = (value) => hasShape(value, { head: isDigest, proof: isString, seq: isInteger });
const isTexts = (value) => isObject(value) && Object.keys(value).every((name) => isDigest(name) && isString(value[name]));
const isListOf = (test, least) => (value) => Array.isArray(value) && value.length >= least && value.every(test);

const PACKET = {
  artifacts: isTexts,
  audit: Array.isArray,
  events: isListOf(isEvent, 1),
  format: isString,
  leaves: isListOf(isLeaf, 1),
  policies: isTexts,
  run: (value) => isObject(value) && isRun(value.id),
  sideEffects: Array.isArray,
  statement: isString,
  tenant: isTenant,
};

function checkShape(packet) {
  must(isObject(packet), 'wrong-shape', 'not an object');
  must(packet.format === 'punk.evidence/1', 'unknown-format', 'format is not punk.evidence/1');
  for (const [name, test] of Object.entries(PACKET)) {
    must(name in packet && test(packet[name]), 'wrong-shape', `member ${name}`);
  }
  must(hasShape(packet, PACKET), 'wrong-shape', 'a member that the format does not know');
}

// ---- chain

function eventHash(event, prev, tenant, run) {
  const digests = Object.create(null);
  for (const [name, field] of Object.entries(event.payload)) {
    digests[name] = field.withheld ?? hexDigest(canonical([field.salt, name, field.value]));
  }
  const { at, seq, type } = event;
  return hexDigest(canonical({ at, payload_digest: hexDigest(canonical(digests)), prev, run, seq, tenant, type }));
}

function checkChain(events, tenant, run) {
  let prev = '0'.repeat(64);
  events.forEach((event, i) => {
    must(event.seq === i + 1, 'event-order', `event ${i + 1} has seq ${event.seq}`);
    must(event.hash === eventHash(event, prev, tenant, run), 'event-hash', `event ${event.seq}`);
    prev = event.hash;
  });
}

function checkLife(events) {
  const finished = eventsOf(events, 'run.finished').length;
  must(events[0].type === 'run.started', 'incomplete', 'the first event is not run.started');
  must(finished > 0, 'incomplete', 'no run.finished');
  must(finished === 1 && eventsOf(events, 'run.started').length === 1, 'lifecycle', 'run.started or run.finished twice');
}

// ---- leaves, proofs and statement

function checkLeaves({ events, leaves }) {
  leaves.forEach((leaf, i) => {
    must(i === 0 || leaf.seq > leaves[i - 1].seq, 'leaf-order', `leaf ${i}: seq ${leaf.seq}`);
    must(events[leaf.seq - 1]?.hash === leaf.head, 'leaf-head', `leaf ${i}: seq ${leaf.seq}`);
  });
  must(leaves.at(-1).seq === events.length, 'uncovered', `events after seq ${leaves.at(-1).seq}`);
}

/** Returns the proofs; they all carry the same checkpoint, so its signatures are checked once, on the first. */
function checkProofs({ leaves, run, tenant }, trust) {
  const proofs = [];
  leaves.forEach(({ head, proof: text, seq }, i) => {
    const proof = readProof(text);
    must(proof !== null, 'proof-text', `leaf ${i}`);
    if (i === 0) checkCheckpoint(proof, tenant, trust);
    else must(proof.checkpoint === proofs[0].checkpoint, 'checkpoint-differs', `leaf ${i}`);
    must(i === 0 || proof.index > proofs[i - 1].index, 'leaf-order', `leaf ${i}: index ${proof.index}`);
    must(isIncluded(canonical({ head, run: run.id, seq }), proof), 'inclusion', `leaf ${i}`);
    proofs.push(proof);
  });
  return proofs;
}

function checkCheckpoint({ origin, signatures, text }, tenant, trust) {
  must(origin.endsWith(`/${tenant}`), 'wrong-origin', `${origin} is not a log of ${tenant}`);
  const keys = [...trust.logs.filter((key) => key.name === origin), ...trust.witnesses];
  const signed = new Set(signatures.map((line) => checkSignature(line, text, keys)));
  must([...signed].some((key) => key.type === LOG_KEY), 'unsigned', 'no log key signed the checkpoint');
  must(trust.quorumMet(signed), 'quorum', 'too few witnesses signed the checkpoint');
}

/** Returns the key that signed. Key ids are short, so two keys may share one: then either may hold. */
function checkSignature(line, text, keys) {
  const candidates = keys.filter((key) => key.name === line.name && key.id === line.id);
  must(candidates.length > 0, 'unknown-key', `${line.name}+${line.id}`);
  const signer = candidates.find((key) => signatureHolds(key, text, line.bytes));
  must(signer !== undefined, 'bad-signature', `${line.name}+${line.id}`);
  return signer;
}

function checkStatement(packet, proofs, trust) {
  const note = readNote(packet.statement);
  must(note !== null && note.signatures.length === 1, 'statement-text', 'not a note with one signature');
  const { origin, root, size } = proofs[0];
  const lines = [
    'punk evidence statement v1',
    origin,
    `run ${packet.run.id}`,
    `tree ${size} ${root.toString('base64')}`,
    `events ${packet.events.length}`,
    ...packet.leaves.map((leaf, i) => `leaf ${proofs[i].index} ${leaf.seq} ${leaf.head}`),
    ...Object.keys(packet.policies).sort().map((digest) => `policy ${digest}`),
    ...Object.keys(packet.artifacts).sort().map((digest) => `artifact ${digest}`),
  ];
  must(note.text === `${lines.join('\n')}\n`, 'statement-differs', 'the statement is about something else');
  checkSignature(note.signatures[0], note.text, trust.logs.filter((key) => key.name === origin));
}

// ---- rows

/** What a reader sees of a field: its value, the withheld marker, or null. */
function fieldOf(event, name) {
  const field = event.payload[name];
  if (field === undefined) return null;
  return 'withheld' in field ? field : field.value;
}

const isDisclosed = (event, name) => name in event.payload && 'value' in event.payload[name];
const isWithheld = (event, name) => name in event.payload && 'withheld' in event.payload[name];

const STARTED = ['kind', 'app', 'agent', 'subject', 'gatewayMode', 'model'];
const FINISHED = [
  'status', 'route', 'explanation', 'costMicroUsd', 'savedMicroUsd', 'inputTokens', 'outputTokens', 'latencyMs',
];

function deriveRun({ events, run, tenant }) {
  const [started] = events;
  const [finished] = eventsOf(events, 'run.finished');
  const row = { id: run.id, tenant, startedAt: started.at, finishedAt: finished.at };
  for (const name of STARTED) row[name] = fieldOf(started, name);
  for (const name of FINISHED) row[name] = fieldOf(finished, name);
  return row;
}

function deriveSideEffects(events) {
  const rows = new Map();
  for (const event of events) {
    const word = /^side_effect\.(planned|executed|suppressed|blocked)$/.exec(event.type)?.[1];
    if (word === undefined) continue;
    const id = isDisclosed(event, 'sideEffect') ? event.payload.sideEffect.value : null;
    must(isString(id), 'side-effect-row', `event ${event.seq}: sideEffect is not a disclosed string`);
    const row = rows.get(id);
    if (word === 'planned') {
      must(row === undefined, 'side-effect-row', `event ${event.seq}: planned twice`);
      const [toolName, level, payload] = ['toolName', 'level', 'payload'].map((name) => fieldOf(event, name));
      rows.set(id, { id, toolName, level, payload, plannedAt: event.at, status: word, settledAt: null });
    } else {
      must(row?.status === 'planned', 'side-effect-row', `event ${event.seq}: settled twice, or before it was planned`);
      row.status = word;
      row.settledAt = event.at;
    }
  }
  return [...rows.values()];
}

function deriveAudit(events) {
  return events.filter((event) => event.type.startsWith('audit.')).map((event) => {
    const payload = Object.create(null);
    for (const name of Object.keys(event.payload)) payload[name] = fieldOf(event, name);
    return { seq: event.seq, at: event.at, type: event.type, payload };
  });
}

function checkRows(packet) {
  must(sameValue(packet.run, deriveRun(packet)), 'run-row', 'run is not what the events say');
  must(sameValue(packet.sideEffects, deriveSideEffects(packet.events)), 'side-effect-row', 'sideEffects are not what the events say');
  must(sameValue(packet.audit, deriveAudit(packet.events)), 'audit-row', 'audit is not what the events say');
}

// ---- policies, artifacts and costs

function checkDigests(texts, code) {
  for (const [digest, text] of Object.entries(texts)) must(hexDigest(text) === digest, code, digest);
}

function checkNamed(texts, named, code) {
  for (const digest of Object.keys(texts)) must(named.has(digest), code, digest);
}

function checkPolicies({ events, policies }, notChecked) {
  checkDigests(policies, 'policy-bytes');
  const named = new Set();
  for (const event of eventsOf(events, 'policy.decided')) {
    const where = `event ${event.seq}`;
    const complete = ['engine', 'policies', 'facts', 'action', 'verdict'].every((name) => name in event.payload);
    must(complete, 'policy-event', `${where}: a field is missing`);
    const digests = event.payload.policies.value;
    must(isString(event.payload.engine.value), 'policy-event', `${where}: engine`);
    must(isListOf(isDigest, 0)(digests), 'policy-event', `${where}: policies`);
    for (const digest of digests) {
      must(digest in policies, 'policy-missing', `${where}: ${digest}`);
      named.add(digest);
    }
    const disclosed = ['facts', 'action', 'verdict'].every((name) => isDisclosed(event, name));
    if (!disclosed || !checkVerdict(event, digests, policies)) notChecked.push(`verdict of ${where}`);
  }
  checkNamed(policies, named, 'policy-extra');
}

/** Whether the verdict could be checked. One with Cedar policies cannot be, here: that takes a Cedar engine. */
function checkVerdict({ payload, seq }, digests, policies) {
  const { action, engine, facts, verdict } = payload;
  must(digests.length === 1, 'verdict', `event ${seq}: not one policy`);
  const again = replay(engine.value, policies[digests[0]], facts.value, action.value);
  must(again.unreadable === undefined, 'verdict', `event ${seq}: ${again.unreadable}`);
  if (again.notChecked) return false;
  must(sameValue(verdict.value, again.verdict), 'verdict', `event ${seq}: the policy decides otherwise`);
  return true;
}

// The one engine of §6.3. Its programs are read here and not executed: what they answer is told as not checked.
const ENGINE = 'punk.artifact/1';
const STYLES = new Set(['compact', 'pretty', 'calls']);
const TEMPLATE = { base: isDigest, pieces: Array.isArray };
const EXECUTABLE = {
  format: (value) => value === ENGINE,
  model: isString,
  task: isDigest,
  style: (value) => STYLES.has(value),
  artifact: (value) => hasShape(value, { guard: isObject, program: (program) => isObject(program) && isString(program.form) }),
};

function isExecutable(text) {
  try {
    const value = parseJson(text);
    const mined = isObject(value) && 'template' in value;
    return hasShape(value, mined ? { ...EXECUTABLE, template: (template) => hasShape(template, TEMPLATE) } : EXECUTABLE);
  } catch {
    return false;
  }
}

function checkArtifacts({ artifacts, events }, notChecked) {
  checkDigests(artifacts, 'artifact-bytes');
  const named = new Set();
  const [started] = events;
  const [finished] = eventsOf(events, 'run.finished');
  for (const event of eventsOf(events, 'artifact.executed')) {
    const where = `event ${event.seq}`;
    const { engine, artifact } = event.payload;
    must(isString(engine?.value), 'artifact-event', `${where}: engine`);
    if (isWithheld(event, 'artifact')) {
      notChecked.push(`answer of ${where}: which artifact gave it is withheld`);
      continue;
    }
    must(isDigest(artifact?.value), 'artifact-event', `${where}: artifact`);
    must(artifact.value in artifacts, 'artifact-missing', `${where}: ${artifact.value}`);
    named.add(artifact.value);
    must(engine.value === ENGINE, 'artifact-replay', `${where}: unknown engine`);
    const told = ['wire', 'model', 'request'].every((name) => name in started.payload) && 'answer' in finished.payload;
    must(told, 'artifact-replay', `${where}: the run does not say what was asked and answered`);
    must(isExecutable(artifacts[artifact.value]), 'artifact-replay', `${where}: not a program of ${ENGINE}`);
    notChecked.push(`answer of ${where}: artifact not executed again here`);
  }
  checkNamed(artifacts, named, 'artifact-extra');
}

function checkCosts({ events }, notChecked) {
  const [finished] = eventsOf(events, 'run.finished');
  const completed = eventsOf(events, 'model.completed');
  for (const name of ['costMicroUsd', 'inputTokens', 'outputTokens']) {
    if ([finished, ...completed].some((event) => isWithheld(event, name))) {
      notChecked.push(`sum of ${name}`);
      continue;
    }
    for (const event of [finished, ...completed]) {
      const value = event.payload[name]?.value;
      must(value === null || isInteger(value), 'costs', `event ${event.seq}: ${name} is neither an integer nor null`);
    }
    const parts = completed.map((event) => event.payload[name].value);
    // BigInt, because a sum of doubles could round to the number claimed
    const sum = parts.includes(null) ? null : parts.reduce((total, part) => total + BigInt(part), 0n);
    const total = finished.payload[name].value;
    must((total === null ? null : BigInt(total)) === sum, 'costs', `${name} of run.finished is not the sum`);
  }
}

// ---- the verifier

/** Turns a thrown Broken into a result. Nothing else should be thrown; if it is, it is our mistake, and named as such. */
function resultOf(check) {
  try {
    return { valid: true, notChecked: check() };
  } catch (error) {
    if (error instanceof Broken) return { valid: false, code: error.code, detail: error.message };
    if (error instanceof TrustError) return { valid: false, code: 'trust-file', detail: error.message };
    return { valid: false, code: 'verifier-error', detail: String(error?.stack ?? error) };
  }
}

const trustFiles = new Map();

/** A batch has thousands of packets under a few trust files: each is read once. */
function cachedTrust(text) {
  if (trustFiles.size > 1000) trustFiles.clear();
  if (!trustFiles.has(text)) trustFiles.set(text, readTrust(text));
  return trustFiles.get(text);
}

/** Checks a packet. A trust file that breaks a rule gives the code `trust-file`, which is no verdict on the packet. */
export function verify(packetBytes, trustText) {
  return resultOf(() => {
    const trust = cachedTrust(trustText);
    const notChecked = [];
    const packet = parseBytes(packetBytes);
    checkShape(packet);
    checkChain(packet.events, packet.tenant, packet.run.id);
    checkLife(packet.events);
    checkLeaves(packet);
    const proofs = checkProofs(packet, trust);
    checkStatement(packet, proofs, trust);
    checkRows(packet);
    checkPolicies(packet, notChecked);
    checkArtifacts(packet, notChecked);
    checkCosts(packet, notChecked);
    return notChecked;
  });
}

/** Checks a list of events on its own (canonical bytes of an array): only that they are a chain, which a prefix is too. */
export function verifyChain(eventsBytes, tenant, run) {
  return resultOf(() => {
    const events = parseBytes(eventsBytes);
    must(isTenant(tenant) && isRun(run) && isListOf(isEvent, 0)(events), 'wrong-shape', 'not a list of events');
    checkChain(events, tenant, run);
    return [];
  });
}

// ---- command line

/** By bytes: node:readline would also break lines at U+2028, which JSON strings may hold. */
async function* linesOf(path) {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end; (end = rest.indexOf(0x0a, start)) >= 0; start = end + 1) yield rest.toString('utf8', start, end);
    rest = rest.subarray(start);
  }
  yield rest.toString('utf8');
}

async function runBatch(path) {
  let count = 0;
  let disagree = 0;
  for await (const line of linesOf(path)) {
    if (line.trim() === '') continue;
    count++;
    const { name, packet, trust, expect } = JSON.parse(line);
    const result = verify(Buffer.from(packet, 'base64'), trust);
    const got = result.valid ? 'valid' : result.code;
    if (got === expect) continue;
    disagree++;
    console.log(`${name}: expected ${expect}, got ${got}${result.valid ? '' : ` (${result.detail})`}`);
  }
  console.log(`${count} vectors, ${disagree} disagree`);
  return count > 0 && disagree === 0 ? 0 : 1;
}

function runOnce(packetPath, trustPath) {
  const trustText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(trustPath));
  readTrust(trustText);
  const result = verify(readFileSync(packetPath), trustText);
  console.log(result.valid ? 'valid' : `broken ${result.code}: ${result.detail}`);
  if (result.valid) for (const check of result.notChecked) console.error(`not checked: ${check}`);
  return result.valid ? 0 : 1;
}

async function main(args) {
  try {
    if (args.length === 2) return args[0] === '--batch' ? await runBatch(args[1]) : runOnce(...args);
    console.error('usage: node verify.mjs <packet.json> <trust.txt>\n       node verify.mjs --batch <vectors.jsonl>');
  } catch (error) {
    console.error(error instanceof TrustError ? `trust file refused: ${error.message}` : error.message);
  }
  return 2;
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  process.exitCode = await main(process.argv.slice(2));
}
