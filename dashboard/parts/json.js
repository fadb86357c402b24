// JSON as a tree that folds. Every value is a text node: what a caller sent is shown, never interpreted.
import { html } from "../view.js";

/** @param {{ value: any, open?: number, name?: string | number }} props how many levels are open */
export function Json({ value, open = 2, name }) {
  return html`<div class="json"><${Node} value=${value} open=${open} name=${name} /></div>`;
}

/** @param {{ value: any, open: number, name?: string | number }} props */
function Node({ value, open, name }) {
  const label = name === undefined ? null : html`<span class="name">${name}</span>${": "}`;
  if (value === null || typeof value !== "object") return html`<div>${label}<${Leaf} value=${value} /></div>`;
  const entries = Array.isArray(value) ? value.map((item, i) => /** @type {[string | number, any]} */ ([i, item])) : Object.entries(value);
  const [left, right] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return html`<div>${label}${left}${right}</div>`;
  return html`<details open=${open > 0}><summary>${label}${left} ${entries.length} ${right}</summary>
    <ul>${entries.slice(0, 500).map(([key, item]) => html`<li key=${key}><${Node} value=${item} open=${open - 1} name=${key} /></li>`)}
    ${entries.length > 500 && html`<li class="faint">and ${entries.length - 500} more</li>`}</ul></details>`;
}

/** @param {{ value: any }} props */
function Leaf({ value }) {
  if (typeof value !== "string") return html`<span class="literal">${String(value)}</span>`;
  return value.length > 4000 ? html`<span class="text">${value.slice(0, 4000)}</span><span class="faint"> … ${value.length - 4000} more characters</span>` : html`<span class="text">${value}</span>`;
}
