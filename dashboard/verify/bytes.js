// Bytes, as the browser has them: digests by WebCrypto, hex, base64 in its one spelling.

const encoder = new TextEncoder();

/** @param {string | Uint8Array} part @returns {Uint8Array} */
export const toBytes = (part) => (typeof part === "string" ? encoder.encode(part) : part);

/** @param {Array<string | Uint8Array>} parts */
export function join(...parts) {
  const list = parts.map(toBytes);
  const whole = new Uint8Array(list.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of list) { whole.set(part, at); at += part.length; }
  return whole;
}

/** @param {Array<string | Uint8Array>} parts */
export async function sha256(...parts) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
}

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {string} text */
export const hexDigest = async (text) => hex(await sha256(text));

/** @param {Uint8Array} bytes */
export const toBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

/** atob is lenient, so only a text that encodes back to itself counts. @param {string} text @returns {Uint8Array | null} */
export function fromBase64(text) {
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return toBase64(bytes) === text ? bytes : null;
  } catch { return null; }
}

/** @param {Uint8Array} a @param {Uint8Array} b */
export const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Order by bytes. @param {Uint8Array} a @param {Uint8Array} b */
export function compare(a, b) {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}
