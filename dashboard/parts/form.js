// Fields of forms. Every field has a label, and what the gateway refused is told at the field that it named.
import { html, useState } from "../view.js";
import { sentence } from "../format.js";

let last = 0;

/** @param {{ label: string, hint?: any, problem?: string | null, children: (id: string, described: string | undefined) => any }} props */
export function Field({ label, hint, problem, children }) {
  const [id] = useState(() => `field-${++last}`);
  const described = hint || problem ? `${id}-note` : undefined;
  return html`<div class="field"><label for=${id}>${label}</label>${children(id, described)}
    ${(hint || problem) && html`<span id=${described} class=${problem ? "problem" : "hint"}>${problem || hint}</span>`}</div>`;
}

/** @param {{ label: string, value: string, onInput: (value: string) => void, hint?: any, problem?: string | null, type?: string, placeholder?: string, required?: boolean, autocomplete?: string, rows?: number, mono?: boolean, autofocus?: boolean, min?: number, max?: number, step?: string, name?: string }} props */
export function TextField({ label, value, onInput, hint, problem, rows, mono, autofocus, ...rest }) {
  const input = (/** @type {Event} */ event) => onInput(/** @type {HTMLInputElement} */ (event.target).value);
  const focus = (/** @type {HTMLElement | null} */ element) => { if (autofocus && element && !element.dataset.focused) { element.dataset.focused = "true"; element.focus(); } };
  return html`<${Field} label=${label} hint=${hint} problem=${problem}>${(/** @type {string} */ id, /** @type {string | undefined} */ described) => rows
    ? html`<textarea id=${id} ref=${focus} autofocus=${autofocus} class=${mono ? "input mono" : "input"} rows=${rows} value=${value} onInput=${input} aria-describedby=${described} aria-invalid=${problem ? "true" : undefined} ...${rest} />`
    : html`<input id=${id} ref=${focus} autofocus=${autofocus} class=${mono ? "input mono" : "input"} value=${value} onInput=${input} aria-describedby=${described} aria-invalid=${problem ? "true" : undefined} ...${rest} />`}<//>`;
}

/** @param {{ label: string, value: string, onInput: (value: string) => void, options: Array<[string, string]>, hint?: any, problem?: string | null }} props */
export function SelectField({ label, value, onInput, options, hint, problem }) {
  return html`<${Field} label=${label} hint=${hint} problem=${problem}>${(/** @type {string} */ id, /** @type {string | undefined} */ described) => html`
    <select id=${id} class="input" value=${value} aria-describedby=${described} onChange=${(/** @type {Event} */ event) => onInput(/** @type {HTMLSelectElement} */ (event.target).value)}>
      ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}
    </select>`}<//>`;
}

/** @param {{ label: any, checked: boolean, onChange: (value: boolean) => void, hint?: any, disabled?: boolean }} props */
export function Check({ label, checked, onChange, hint, disabled }) {
  return html`<label class="check"><input type="checkbox" checked=${checked} disabled=${disabled} onChange=${(/** @type {Event} */ event) => onChange(/** @type {HTMLInputElement} */ (event.target).checked)} />
    <span>${label}${hint && html`<span class="hint faint small"><br />${hint}</span>`}</span></label>`;
}

/** A few choices, all visible. @param {{ label: string, value: string, options: Array<[string, string]>, onChange: (value: string) => void }} props */
export const Segments = ({ label, value, options, onChange }) => html`<div class="segments" role="group" aria-label=${label}>
  ${options.map(([key, text]) => html`<button type="button" key=${key} aria-pressed=${String(key === value)} onClick=${() => onChange(key)}>${text}</button>`)}</div>`;

/** The message for a field that an error names. @param {any} error @param {string} name */
export const problemOf = (error, name) => (error?.param === name || error?.param?.endsWith(`.${name}`) ? sentence(error.message) : null);
