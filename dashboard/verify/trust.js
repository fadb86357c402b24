// The trust file (docs/reference/evidence-packet.md, §7): whose signatures count. It comes from the operator by a way
// that is trusted, never from the gateway that is being checked.
import { fromBase64, same } from "./bytes.js";
import { LOG_KEY, WITNESS_KEY, isKeyName, keyId } from "./note.js";

/** @typedef {import("./note.js").Key} Key */
/** @typedef {{ logs: Key[], witnesses: Key[], quorumMet: (signed: Set<Key>) => boolean }} Trust */

export class TrustError extends Error {}

/** @param {string} text @returns {Promise<Trust>} */
export async function readTrust(text) {
  /** @type {Key[]} */
  const logs = [];
  /** @type {Key[]} */
  const witnesses = [];
  /** @type {Map<string, (signed: Set<Key>) => boolean>} */
  const rules = new Map();
  const listed = new Set();
  /** @type {((signed: Set<Key>) => boolean) | null} */
  let quorum = null;

  const define = (/** @type {string} */ name, /** @type {(signed: Set<Key>) => boolean} */ rule) => {
    if (name === "none" || rules.has(name)) throw new TrustError(`name defined twice: ${name}`);
    rules.set(name, rule);
  };
  const use = (/** @type {string} */ name) => {
    const rule = rules.get(name);
    if (!rule) throw new TrustError(`name not defined: ${name}`);
    if (listed.has(name)) throw new TrustError(`name listed twice: ${name}`);
    listed.add(name);
    return rule;
  };
  const addKey = async (/** @type {Key[]} */ keys, /** @type {string} */ vkey, /** @type {number} */ type) => {
    const key = await readVkey(vkey, type);
    if (keys.some((other) => same(other.raw, key.raw))) throw new TrustError(`public key given twice: ${vkey}`);
    keys.push(key);
    return key;
  };

  for (const line of text.split("\n")) {
    if (/[\x00-\x08\x0a-\x1f]/.test(line)) throw new TrustError(`control character in a trust file: ${line}`);
    const [kind, ...items] = line.split(/[ \t]+/).filter((item) => item !== "");
    if (kind === undefined || kind.startsWith("#")) continue;
    const expect = (/** @type {number} */ least, /** @type {number} */ most) => { if (items.length < least || items.length > most) throw new TrustError(`not a line of a trust file: ${line}`); };
    if (kind === "log") {
      expect(1, 2);
      await addKey(logs, items[0], LOG_KEY);
    } else if (kind === "witness") {
      expect(2, 3);
      const key = await addKey(witnesses, items[1], WITNESS_KEY);
      define(items[0], (signed) => signed.has(key));
    } else if (kind === "group") {
      expect(3, Infinity);
      const [name, threshold, ...names] = items;
      const members = names.map(use);
      const needed = threshold === "all" ? members.length : threshold === "any" ? 1 : /^[1-9][0-9]*$/.test(threshold) ? Number(threshold) : NaN;
      if (!(needed <= members.length)) throw new TrustError(`not a threshold of ${members.length}: ${threshold}`);
      define(name, (signed) => members.filter((met) => met(signed)).length >= needed);
    } else if (kind === "quorum") {
      expect(1, 1);
      if (quorum !== null) throw new TrustError("more than one quorum");
      quorum = items[0] === "none" ? () => true : use(items[0]);
    } else {
      throw new TrustError(`not a line of a trust file: ${line}`);
    }
  }
  if (quorum === null) throw new TrustError("no quorum");
  return { logs, witnesses, quorumMet: quorum };
}

/** @param {string} vkey @param {number} type @returns {Promise<Key>} */
async function readVkey(vkey, type) {
  // base64 may contain "+", a key name may not: the first two separate
  const [, name, id, encoded] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(vkey) ?? [];
  const bytes = encoded === undefined ? null : fromBase64(encoded);
  if (bytes?.length !== 33 || bytes[0] !== type || !isKeyName(name)) throw new TrustError(`not a key of a trust file: ${vkey}`);
  const raw = bytes.slice(1);
  if ((await keyId(name, type, raw)) !== id) throw new TrustError(`the key id is not that of the key: ${vkey}`);
  let publicKey;
  try {
    publicKey = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
  } catch {
    throw new TrustError(`not an Ed25519 key, or this browser has no Ed25519: ${vkey}`);
  }
  return { type, name, id, raw, publicKey };
}

/** Whether this browser can check the signatures of the log at all. */
export async function hasEd25519() {
  try { await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]); return true; } catch { return false; }
}
