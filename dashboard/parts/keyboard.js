// The keyboard: `g` and a letter goes to a page, `/` searches, `j` and `k` move, `?` says all of that.
//
// Pages add their own keys with useKeys; the newest wins, so a dialog is not overheard by the page below it.
import { useLayoutEffect } from "../view.js";

/** @typedef {Record<string, (event: KeyboardEvent) => void>} Keys */

/** @type {Keys[]} */
const layers = [];
let prefix = "";
/** @type {ReturnType<typeof setTimeout> | undefined} */
let forget;

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  const name = prefix ? `${prefix} ${event.key}` : event.key;
  clearTimeout(forget);
  prefix = "";
  for (const layer of [...layers].reverse()) {
    if (layer[name]) { event.preventDefault(); layer[name](event); return; }
    if (Object.keys(layer).some((key) => key.startsWith(`${name} `))) {
      prefix = name;
      forget = setTimeout(() => { prefix = ""; }, 1200);
      return;
    }
  }
});

/**
 * Registered with the very change of the page that shows them: an effect after painting would leave a moment in which a
 * quick `j` `j` `Enter` still meets the keys of before.
 * @param {Keys} keys @param {unknown[]} inputs
 */
export function useKeys(keys, inputs) {
  useLayoutEffect(() => {
    layers.push(keys);
    return () => { layers.splice(layers.indexOf(keys), 1); };
  }, inputs);
}
