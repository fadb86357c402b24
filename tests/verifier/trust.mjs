// The trust file (§7): whose signatures count. A file that breaks a rule throws a TrustError, before any packet is read.

import { createPublicKey } from 'node:crypto';
import { LOG_KEY, WITNESS_KEY, decodeBase64, isKeyName, keyId } from './note.mjs';

export class TrustError extends Error {}

/** `{logs: [key], witnesses: [key], quorumMet(set of witness keys)}`, where a key is `{type, name, id, raw, publicKey}`. */
export function readTrust(text) {
  const logs = [];
  const witnesses = [];
  const rules = new Map(); // the name of a witness or group -> (signed: Set of keys) => boolean
  const listed = new Set(); // every name that is already a member of a group, or the quorum
  let quorum = null;

  const define = (name, rule) => {
    // "quorum none" has its own meaning, so nothing else may be called that
    if (name === 'none' || rules.has(name)) throw new TrustError(`name defined twice: ${name}`);
    rules.set(name, rule);
  };
  const use = (name) => {
    if (!rules.has(name)) throw new TrustError(`name not defined: ${name}`);
    if (listed.has(name)) throw new TrustError(`name listed twice: ${name}`);
    listed.add(name);
    return rules.get(name);
  };
  const addKey = (keys, vkey, type) => {
    const key = readVkey(vkey, type);
    if (keys.some((other) => other.raw.equals(key.raw))) throw new TrustError(`public key given twice: ${vkey}`);
    keys.push(key);
    return key;
  };

  for (const line of text.split('\n')) {
    const [kind, ...items] = line.split(/[ \t]+/).filter((item) => item !== '');
    if (/[\x00-\x08\x0a-\x1f]/.test(line)) throw new TrustError(`control character in a trust file: ${line}`);
    if (kind === undefined || kind.startsWith('#')) continue;
    const wrongLine = () => new TrustError(`not a line of a trust file: ${line}`);
    const expectItems = (least, most) => { if (items.length < least || items.length > most) throw wrongLine(); };
    if (kind === 'log') {
      expectItems(1, 2);
      addKey(logs, items[0], LOG_KEY);
    } else if (kind === 'witness') {
      expectItems(2, 3);
      const key = addKey(witnesses, items[1], WITNESS_KEY);
      define(items[0], (signed) => signed.has(key));
    } else if (kind === 'group') {
      expectItems(3, Infinity);
      const [name, threshold, ...names] = items;
      const members = names.map(use);
      const needed = threshold === 'all' ? members.length : threshold === 'any' ? 1
        : /^[1-9][0-9]*$/.test(threshold) ? Number(threshold) : NaN;
      if (!(needed <= members.length)) throw new TrustError(`not a threshold of ${members.length}: ${threshold}`);
      define(name, (signed) => members.filter((met) => met(signed)).length >= needed);
    } else if (kind === 'quorum') {
      expectItems(1, 1);
      if (quorum !== null) throw new TrustError('more than one quorum');
      quorum = items[0] === 'none' ? () => true : use(items[0]);
    } else {
      throw wrongLine();
    }
  }
  if (quorum === null) throw new TrustError('no quorum');
  return { logs, witnesses, quorumMet: quorum };
}

function readVkey(vkey, type) {
  // base64 may contain "+", a key name may not: the first two separate
  const [, name, id, encoded] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/s.exec(vkey) ?? [];
  const bytes = encoded === undefined ? null : decodeBase64(encoded);
  if (bytes?.length !== 33 || bytes[0] !== type || !isKeyName(name)) throw new TrustError(`not a vkey of type ${type}: ${vkey}`);
  const raw = bytes.subarray(1);
  if (keyId(name, type, raw) !== id) throw new TrustError(`the key id is not that of the key: ${vkey}`);
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') };
    return { type, name, id, raw, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) };
  } catch {
    throw new TrustError(`not an Ed25519 key: ${vkey}`);
  }
}
