// A model: one of those that are served, or any other name that the gateway may know.
import { html, useState } from "../view.js";

let last = 0;

/** @param {{ label: string, value: string, models: string[], onInput: (value: string) => void }} props */
export function ModelField({ label, value, models, onInput }) {
  const [id] = useState(() => `models-${++last}`);
  return html`<label class="model-field"><span class="visually-hidden">${label}</span><input class="input" list=${id} value=${value} aria-label=${label} onInput=${(/** @type {Event} */ event) => onInput(/** @type {HTMLInputElement} */ (event.target).value)} />
    <datalist id=${id}>${models.map((model) => html`<option value=${model} />`)}</datalist></label>`;
}
