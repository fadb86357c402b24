// The view layer in one place: templates, rendering, hooks. Pages import from here and never from vendor/.
//
// Templates only ever put values into text nodes and properties, so what a caller wrote stays text. Nothing in the
// dashboard sets innerHTML, and no template may be built from a string.
import { h, render } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export const html = htm.bind(h);
export { h, render };
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact-hooks.js";

/**
 * A value that changes and whom to tell. The smallest thing that lets a page and the shell look at the same state.
 * @template T
 */
export class Cell {
  /** @param {T} value */
  constructor(value) {
    /** @type {T} */
    this.value = value;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
  }

  /** @param {T} value */
  set(value) {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of [...this.listeners]) listener();
  }

  /** @param {() => void} listener */
  listen(listener) {
    this.listeners.add(listener);
    return () => { this.listeners.delete(listener); };
  }
}
