/** JSON in its one spelling (RFC 8785), in which an evidence packet is valid. */

/**
 * `value` as canonical JSON. `JSON.stringify` writes numbers and texts the same way, but JavaScript moves members whose
 * names are numbers to the front, so a packet that was read and written again may have another order than it came in.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = value as Record<string, unknown>;
  // Without a comparison of its own `sort` goes by UTF-16 units, as the standard does.
  return `{${Object.keys(members).sort().map((name) => `${JSON.stringify(name)}:${canonicalJson(members[name])}`).join(",")}}`;
}
