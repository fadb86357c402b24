// The log's texts (§3): signed notes, checkpoints and inclusion proofs, each in the one spelling a packet allows.
// Readers return null for a text that is not so spelled; the caller knows which reason code that is.

import { verify as verifySignature } from 'node:crypto';
import { sha256 } from './canonical.mjs';

export const LOG_KEY = 0x01;
export const WITNESS_KEY = 0x04;

// White_Space and not \s: they differ in U+0085 and U+FEFF.
export const isKeyName = (name) => /^[^\p{White_Space}+]+$/u.test(name);
export const keyId = (name, type, publicKey) => sha256(name, '\n', Buffer.of(type), publicKey).toString('hex', 0, 4);

/** Buffer.from skips what it does not understand, so only a text that encodes back to itself counts. */
export function decodeBase64(text) {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

/** `{text, signatures: [{name, id, bytes}]}`, or null. The text keeps its final newline: that is what is signed. */
export function readNote(note) {
  const split = note.lastIndexOf('\n\n');
  if (split < 0 || !note.endsWith('\n') || /[\0-\x09\x0b-\x1f]/.test(note)) return null;
  const text = note.slice(0, split + 1);
  const signatures = note.slice(split + 2, -1).split('\n').map(readSignatureLine);
  if (signatures.length > 16 || signatures.includes(null)) return null;
  const origin = text.slice(0, text.indexOf('\n'));
  const sorted = signatures.every((line, i) => i === 0 || compareLines(signatures[i - 1], line, origin) < 0);
  return sorted ? { text, signatures } : null;
}

function readSignatureLine(line) {
  const [dash, name, blob, ...rest] = line.split(' ');
  if (dash !== '—' || rest.length > 0 || blob === undefined || !isKeyName(name)) return null;
  const bytes = decodeBase64(blob);
  // What follows the key id depends on the key's type, which only the trust file knows: see signatureHolds.
  if (bytes === null || bytes.length < 5) return null;
  return { name, id: bytes.toString('hex', 0, 4), bytes: bytes.subarray(4) };
}

function compareLines(a, b, origin) {
  const group = Number(a.name !== origin) - Number(b.name !== origin);
  return group || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** `{index, path, checkpoint, origin, size, root, text, signatures}`, or null. Index and size are BigInts. */
export function readProof(proof) {
  const split = proof.indexOf('\n\n');
  if (split < 0) return null;
  const [magic, indexLine, ...hashes] = proof.slice(0, split).split('\n');
  const index = /^index (0|[1-9][0-9]*)$/.exec(indexLine ?? '')?.[1];
  const path = hashes.map(readHash);
  if (magic !== 'c2sp.org/tlog-proof@v1' || index === undefined || path.includes(null) || BigInt(index) >= 1n << 53n) return null;

  const checkpoint = proof.slice(split + 2);
  const note = readNote(checkpoint);
  if (note === null) return null;
  const [origin, sizeLine, rootLine, ...rest] = note.text.split('\n');
  if (rest.length !== 1 || !isKeyName(origin) || !/^[1-9][0-9]{0,15}$/.test(sizeLine)) return null;
  const root = readHash(rootLine);
  if (root === null || Number(sizeLine) > Number.MAX_SAFE_INTEGER) return null;
  return { index: BigInt(index), path, checkpoint, origin, size: BigInt(sizeLine), root, ...note };
}

function readHash(line) {
  const bytes = decodeBase64(line);
  return bytes?.length === 32 ? bytes : null;
}

/** Whether the path leads from the leaf's data to the root (RFC 9162 §2.1.3.2, the same tree as RFC 6962). */
export function isIncluded(data, { index, size, path, root }) {
  if (index >= size) return false;
  let hash = sha256('\0', data);
  let node = index;
  let last = size - 1n;
  for (const sibling of path) {
    if (last === 0n) return false; // a hash left over
    if (node & 1n || node === last) {
      hash = sha256('\x01', sibling, hash);
      // the rightmost node of an incomplete level has no sibling there: climb to where it has one
      while (!(node & 1n) && node !== 0n) { node >>= 1n; last >>= 1n; }
    } else {
      hash = sha256('\x01', hash, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n && hash.equals(root);
}

/** Whether the signature of a note line holds over the text, for a key of the trust file. */
export function signatureHolds(key, text, bytes) {
  if (key.type === LOG_KEY) return bytes.length === 64 && verifySignature(null, Buffer.from(text), key.publicKey, bytes);
  if (bytes.length !== 72) return false;
  const seconds = bytes.readBigUInt64BE();
  const signed = Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`);
  return seconds < 1n << 63n && verifySignature(null, signed, key.publicKey, bytes.subarray(8));
}
