// What the cases hold things against. Browsers have no `node:assert`, and the cases run in them unchanged.

/** Fails with `message` unless `holds`. */
export function ok(holds, message) {
  if (!holds) throw new Error(message);
}

/** Both are the same as JSON, whatever the order of members. */
export function same(actual, expected, what = "it") {
  const [one, other] = [ordered(actual), ordered(expected)];
  ok(one === other, `${what} is ${one}, and should be ${other}`);
}

/** `text` has `part` in it. */
export function has(text, part, what = "it") {
  ok(typeof text === "string" && text.includes(part), `${what} is ${JSON.stringify(text)}, and should have ${part} in it`);
}

/** The object has members of these types; `"string?"` may be null. Others may be there. */
export function shaped(actual, members, what = "it") {
  for (const [name, wanted] of Object.entries(members)) {
    const value = actual?.[name];
    const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
    const fits = type === wanted.replace("?", "") || (type === "null" && wanted.endsWith("?"));
    ok(fits, `${what}.${name} is ${type}, and should be ${wanted}: ${JSON.stringify(actual)}`);
  }
}

/** What `attempt` throws. That it throws nothing is a failure. */
export async function thrown(attempt) {
  let given;
  try {
    given = await attempt();
  } catch (error) {
    return error;
  }
  throw new Error(`nothing was thrown; it gave ${JSON.stringify(given)}`);
}

function ordered(value) {
  const sorted = (_, inner) => {
    if (inner === undefined) return "(undefined)";
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)));
  };
  return JSON.stringify(value, sorted);
}
