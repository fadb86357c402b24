// The one way to the gateway: its public REST interface, with whatever the person who looks has shown of themselves.
//
// A key is kept for this tab alone (sessionStorage) and goes in `authorization`. A session is a cookie that no script can
// read; what changes something then carries the token against forged requests. Errors are the gateway's own words.
import { Cell } from "./view.js";

const KEY = "punk.key";

/** What the caller shows: a key, or the token that goes with a session. */
export const credentials = {
  /** @type {string | null} */
  key: sessionStorage.getItem(KEY),
  /** @type {string | null} */
  csrf: null,
};

/** @param {string | null} key */
export function rememberKey(key) {
  credentials.key = key;
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

/** Counts answers of 401, so that whoever guards the pages can ask for a login. */
export const refusals = new Cell(0);

/** Why a request was refused: what was wrong, and what to do about it. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{ code?: string, message?: string, hint?: string, param?: string | null, runId?: string | null, approvalId?: string | null, verdict?: any, gates?: any }} detail
   */
  constructor(status, detail) {
    super(detail.message ?? `the gateway answered ${status}`);
    this.status = status;
    this.code = detail.code ?? "unknown";
    this.hint = detail.hint ?? "";
    this.param = detail.param ?? null;
    this.runId = detail.runId ?? null;
    this.approvalId = detail.approvalId ?? null;
    this.verdict = detail.verdict ?? null;
    this.gates = detail.gates ?? null;
  }
}

/** @typedef {{ query?: Record<string, string | number | boolean | null | undefined>, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal, key?: string | null, quiet?: boolean, again?: boolean }} Options */

/** @param {string} path @param {Options["query"]} query */
export function address(path, query) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

/** @param {string} method @param {Options} options */
function headersOf(method, options) {
  const headers = new Headers(options.headers);
  const key = options.key === undefined ? credentials.key : options.key;
  if (key) headers.set("authorization", `Bearer ${key}`);
  else if (credentials.csrf && method !== "GET") headers.set("x-punk-csrf", credentials.csrf);
  if (options.body !== undefined) headers.set("content-type", "application/json");
  return headers;
}

/**
 * @returns {Promise<Response>}
 * Sends a request and gives its answer, whatever it is read as. Throws an ApiError for everything that is not a success.
 * @param {string} method @param {string} path @param {Options} [options]
 */
export async function send(method, path, options = {}) {
  let response;
  try {
    response = await fetch(address(path, options.query), {
      method,
      headers: headersOf(method, options),
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      credentials: "same-origin",
      // Of a question to a model it would mean that no kept answer is wanted.
      cache: method === "GET" ? "no-store" : "default",
      signal: options.signal,
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, { code: "unreachable", message: "The gateway does not answer.", hint: "Is the process running, and is this address still its own? The page tries again when you do." });
  }
  if (response.ok) return response;
  const error = await errorOf(response, options);
  // A session whose page was not opened by a login here, as after a provider's: its token is asked for once.
  if (error.code === "punk_csrf" && !options.again) {
    credentials.csrf = (await call("GET", "/api/v1/auth/session")).csrfToken;
    return send(method, path, { ...options, again: true });
  }
  throw error;
}

/** @param {Response} response @param {Options} options */
async function errorOf(response, options) {
  const text = await response.text();
  let detail = {};
  try { detail = JSON.parse(text)?.error ?? {}; } catch { detail = { message: text.slice(0, 300) || response.statusText }; }
  if (response.status === 401 && !options.quiet) refusals.set(refusals.value + 1);
  return new ApiError(response.status, detail);
}

/** @param {string} method @param {string} path @param {Options} [options] @returns {Promise<any>} */
export async function call(method, path, options) {
  return (await send(method, path, options)).json();
}

/** @param {string} path @param {Options["query"]} [query] @param {AbortSignal} [signal] @returns {Promise<any>} */
export const get = (path, query, signal) => call("GET", path, { query, signal });
/** @param {string} path @param {unknown} [body] @returns {Promise<any>} */
export const post = (path, body) => call("POST", path, { body });
/** @param {string} path @param {unknown} body @returns {Promise<any>} */
export const patch = (path, body) => call("PATCH", path, { body });
/** @param {string} path @param {Options["query"]} [query] @returns {Promise<any>} */
export const remove = (path, query) => call("DELETE", path, { query });

/** A part of a path that may hold anything. @param {string} text */
export const part = (text) => encodeURIComponent(text);

/**
 * A page of a list in the shape that `usePages` wants. @param {string} path @param {string} member
 * @param {Options["query"]} [query] @param {string} [cursorName]
 * @returns {(cursor: string | null, signal: AbortSignal) => Promise<{ items: any[], next: string | null }>}
 */
export const pages = (path, member, query = {}, cursorName = "before") => async (cursor, signal) => {
  const answer = await get(path, { limit: 100, ...query, [cursorName]: cursor }, signal);
  return { items: answer[member], next: answer.next ?? null };
};
