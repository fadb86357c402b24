// Values (§1): the reader and the grammars, which the dashboard shares, and digests as Node computes them.

import { createHash } from 'node:crypto';

export * from '../../dashboard/verify/canonical.js';

export const sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
export const hexDigest = (text) => sha256(text).toString('hex');
