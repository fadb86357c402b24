// The log's texts: signed notes, checkpoints and inclusion proofs, each in the one spelling that a packet allows
// (docs/reference/evidence-packet.md, §3). Readers give null for a text that is not so spelled.
import { compare, fromBase64, hex, same, sha256, toBytes } from "./bytes.js";

export const LOG_KEY = 0x01;
export const WITNESS_KEY = 0x04;

/** @typedef {{ name: string, id: string, bytes: Uint8Array }} SignatureLine */
/** @typedef {{ text: string, signatures: SignatureLine[] }} Note */
/** @typedef {{ index: bigint, path: Uint8Array[], checkpoint: string, origin: string, size: bigint, root: Uint8Array } & Note} Proof */
/** @typedef {{ type: number, name: string, id: string, raw: Uint8Array, publicKey: CryptoKey }} Key */

/** White_Space and not \s: they differ in U+0085 and U+FEFF. @param {string} name */
export const isKeyName = (name) => /^[^\p{White_Space}+]+$/u.test(name);

/** @param {string} name @param {number} type @param {Uint8Array} raw */
export const keyId = async (name, type, raw) => hex((await sha256(name, "\n", Uint8Array.of(type), raw)).subarray(0, 4));

/** @param {string} note @returns {Note | null} */
export function readNote(note) {
  const split = note.lastIndexOf("\n\n");
  if (split < 0 || !note.endsWith("\n") || /[\0-\x09\x0b-\x1f]/.test(note)) return null;
  const text = note.slice(0, split + 1);
  const lines = note.slice(split + 2, -1).split("\n").map(readLine);
  if (lines.length > 16 || lines.includes(null)) return null;
  const signatures = /** @type {SignatureLine[]} */ (lines);
  const origin = text.slice(0, text.indexOf("\n"));
  return signatures.every((line, i) => i === 0 || order(signatures[i - 1], line, origin) < 0) ? { text, signatures } : null;
}

/** @param {string} line @returns {SignatureLine | null} */
function readLine(line) {
  const [dash, name, blob, ...rest] = line.split(" ");
  if (dash !== "—" || rest.length > 0 || blob === undefined || !isKeyName(name)) return null;
  const bytes = fromBase64(blob);
  if (bytes === null || bytes.length < 5) return null;
  return { name, id: hex(bytes.subarray(0, 4)), bytes: bytes.slice(4) };
}

/** @param {SignatureLine} a @param {SignatureLine} b @param {string} origin */
function order(a, b, origin) {
  const group = Number(a.name !== origin) - Number(b.name !== origin);
  return group || compare(toBytes(a.name), toBytes(b.name)) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** @param {string} proof @returns {Proof | null} */
export function readProof(proof) {
  const split = proof.indexOf("\n\n");
  if (split < 0) return null;
  const [magic, indexLine, ...hashes] = proof.slice(0, split).split("\n");
  const index = /^index (0|[1-9][0-9]*)$/.exec(indexLine ?? "")?.[1];
  const path = hashes.map(readHash);
  if (magic !== "c2sp.org/tlog-proof@v1" || index === undefined || path.includes(null) || BigInt(index) >= 1n << 53n) return null;
  const checkpoint = proof.slice(split + 2);
  const note = readNote(checkpoint);
  if (note === null) return null;
  const [origin, sizeLine, rootLine, ...rest] = note.text.split("\n");
  if (rest.length !== 1 || !isKeyName(origin) || !/^[1-9][0-9]{0,15}$/.test(sizeLine)) return null;
  const root = readHash(rootLine);
  if (root === null || Number(sizeLine) > Number.MAX_SAFE_INTEGER) return null;
  return { index: BigInt(index), path: /** @type {Uint8Array[]} */ (path), checkpoint, origin, size: BigInt(sizeLine), root, ...note };
}

/** @param {string} line */
function readHash(line) {
  const bytes = fromBase64(line);
  return bytes?.length === 32 ? bytes : null;
}

/** Whether the path leads from the leaf's data to the root (RFC 9162 §2.1.3.2). @param {string} data @param {Proof} proof */
export async function isIncluded(data, { index, size, path, root }) {
  if (index >= size) return false;
  let hash = await sha256("\0", data);
  let node = index;
  let last = size - 1n;
  for (const sibling of path) {
    if (last === 0n) return false; // a hash is left over
    if (node & 1n || node === last) {
      hash = await sha256("\x01", sibling, hash);
      // the last node of an incomplete level has no sibling there: climb to where it has one
      while (!(node & 1n) && node !== 0n) { node >>= 1n; last >>= 1n; }
    } else {
      hash = await sha256("\x01", hash, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n && same(hash, root);
}

/** Whether the signature of a line holds over the text. @param {Key} key @param {string} text @param {Uint8Array} bytes */
export async function signatureHolds(key, text, bytes) {
  const verify = (/** @type {Uint8Array} */ signature, /** @type {Uint8Array} */ data) => crypto.subtle.verify("Ed25519", key.publicKey, /** @type {any} */ (signature), /** @type {any} */ (data));
  if (key.type === LOG_KEY) return bytes.length === 64 && verify(bytes, toBytes(text));
  if (bytes.length !== 72) return false;
  const seconds = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0);
  return seconds < 1n << 63n && verify(bytes.slice(8), toBytes(`cosignature/v1\ntime ${seconds}\n${text}`));
}
