// Values (§1): a strict JSON reader, canonical JSON (RFC 8785, narrowed), and the grammars of names.
//
// JSON.parse is not used for whole texts: it keeps the last of two equal keys, turns 1e400 into Infinity and lets
// lone surrogates through. Objects have no prototype, so that "__proto__" is a member like any other.

const MAX_DEPTH = 100;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** @type {Record<string, boolean | null>} */
const WORDS = { true: true, false: false, null: null };

/**
 * @param {string} text @param {{ unique?: boolean, spelt?: (value: number, token: string) => unknown }} [options] @returns {any}
 * Parses one JSON text, or throws a SyntaxError. Of two equal keys the last wins, unless `unique` refuses them. `spelt` may
 * make something of a number and its spelling, where it matters whether a whole number is written with a point.
 */
export function parseJson(text, { unique = false, spelt = (value) => value } = {}) {
  let at = 0;
  /** @type {(what: string) => never} */
  const fail = (what) => { throw new SyntaxError(`${what} at character ${at}`); };

  function space() {
    for (let c = text.charCodeAt(at); c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09; c = text.charCodeAt(at)) at++;
  }

  /** Skips white space, then consumes `char` if it is next. @param {string} char */
  function take(char) {
    space();
    if (text[at] !== char) return false;
    at++;
    return true;
  }

  function string() {
    // The closing quote is the first one behind an even number of backslashes; JSON.parse judges what lies between.
    let end = at;
    for (let escaped = true; escaped;) {
      end = text.indexOf('"', end + 1);
      if (end < 0) fail('unterminated string');
      let slash = end;
      while (text[slash - 1] === '\\') slash--;
      escaped = (end - slash) % 2 === 1;
    }
    let value;
    try { value = JSON.parse(text.slice(at, end + 1)); } catch { fail('bad string'); }
    if (/[\ud800-\udfff]/u.test(value)) fail('lone surrogate'); // with the u flag a proper pair does not match
    at = end + 1;
    return value;
  }

  /** @returns {unknown} */
  function number() {
    NUMBER.lastIndex = at;
    const token = NUMBER.exec(text)?.[0] ?? fail('not a JSON value');
    const value = Number(token);
    if (!Number.isFinite(value)) fail('number too large for a double');
    at += token.length;
    return spelt(value, token);
  }

  /** @param {number} depth @returns {unknown[]} */
  function array(depth) {
    /** @type {unknown[]} */
    const list = [];
    if (take(']')) return list;
    do list.push(value(depth)); while (take(','));
    return take(']') ? list : fail('expected , or ]');
  }

  /** @param {number} depth @returns {Record<string, unknown>} */
  function object(depth) {
    const members = Object.create(null);
    if (take('}')) return members;
    do {
      space();
      const key = text[at] === '"' ? string() : fail('expected a member name');
      if (unique && key in members) fail('member written twice');
      if (!take(':')) fail('expected :');
      members[key] = value(depth);
    } while (take(','));
    return take('}') ? members : fail('expected , or }');
  }

  /** @param {number} depth @returns {any} */
  function value(depth) {
    space();
    const char = text[at];
    if (char === '"') return string();
    if (char === '{' || char === '[') {
      if (depth === MAX_DEPTH) fail('nested too deep');
      at++;
      return char === '{' ? object(depth + 1) : array(depth + 1);
    }
    for (const word in WORDS) if (text.startsWith(word, at)) { at += word.length; return WORDS[word]; }
    return number();
  }

  const result = value(0);
  space();
  return at === text.length ? result : fail('something after the value');
}

/** The canonical text of a value. Throws a RangeError for a number that other languages would read differently. @param {any} value @returns {string} */
export function canonical(value) {
  if (typeof value === 'number') {
    const size = Math.abs(value);
    if (size > Number.MAX_SAFE_INTEGER && size < 1e21) throw new RangeError(`number out of range: ${value}`);
    return String(value); // ECMAScript's spelling is the one RFC 8785 asks for, and -0 becomes 0
  }
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  // sort() without a comparator orders by UTF-16 code units, as RFC 8785 does
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

const ID = '[0-7][0-9a-hjkmnp-tv-z]{25}';
const matcher = (/** @type {RegExp} */ pattern) => (/** @type {unknown} */ value) => typeof value === 'string' && pattern.test(value);

export const isString = (/** @type {any} */ value) => typeof value === 'string';
export const isName = (/** @type {any} */ value) => typeof value === 'string' && value !== '';
export const isObject = (/** @type {any} */ value) => value !== null && typeof value === 'object' && !Array.isArray(value);
export const isDigest = matcher(/^[0-9a-f]{64}$/);
export const isSalt = matcher(/^[0-9a-f]{32}$/);
export const isTenant = matcher(new RegExp(`^ten_${ID}$`));
export const isRun = matcher(new RegExp(`^run_${ID}$`));
export const isInteger = (/** @type {any} */ value) => Number.isSafeInteger(value) && value >= 0;

/** Date rolls 30 February over to March, so a real moment is one that is printed as it was read. @param {any} value */
export function isTime(value) {
  if (!isString(value) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) || value < '1970') return false;
  const date = new Date(value);
  return !Number.isNaN(date.getTime()) && date.toISOString() === value;
}

/** Whether `value` is an object with exactly these members, each passing its test; members in `optional` may be missing. @param {any} value @param {Record<string, (value: any) => unknown>} required @param {Record<string, (value: any) => unknown>} [optional] @returns {boolean} */
export function hasShape(value, required, optional = {}) {
  if (!isObject(value)) return false;
  const missing = Object.keys(required).some((key) => !(key in value));
  return !missing && Object.keys(value).every((key) => {
    const test = Object.hasOwn(required, key) ? required[key] : Object.hasOwn(optional, key) ? optional[key] : null;
    return test !== null && test(value[key]);
  });
}
