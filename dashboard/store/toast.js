// Short messages about what was just done.
import { sentence } from "../format.js";
import { Cell } from "../view.js";

/** @typedef {{ id: number, tone: "good" | "bad", title: string, text: string }} Toast */

/** @type {Cell<Toast[]>} */
export const toasts = new Cell(/** @type {Toast[]} */ ([]));
let last = 0;

/** @param {Toast["tone"]} tone @param {string} title @param {string} [text] */
function add(tone, title, text = "") {
  const id = ++last;
  toasts.set([...toasts.value.slice(-3), { id, tone, title, text }]);
  setTimeout(() => dismiss(id), tone === "bad" ? 12_000 : 5_000);
}

/** @param {number} id */
export const dismiss = (id) => toasts.set(toasts.value.filter((toast) => toast.id !== id));

/** @param {string} title @param {string} [text] */
export const tell = (title, text) => add("good", title, text);

/**
 * Does something and says how it went: what was tried, and the gateway's own words when it did not work.
 * @template T
 * @param {string} what such as "Promote artifact" @param {() => Promise<T>} work @param {string} [done]
 * @returns {Promise<T | null>}
 */
export async function attempt(what, work, done) {
  try {
    const result = await work();
    if (done) tell(done);
    return result;
  } catch (/** @type {any} */ error) {
    add("bad", `${what} did not work`, `${sentence(error.message)} ${sentence(error.hint)}`);
    return null;
  }
}
