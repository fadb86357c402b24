// A question in front of the page. The browser's own dialog keeps the focus in it and closes on Escape.
import { html, useEffect, useRef } from "../view.js";
import { Icon } from "./icon.js";

/** @param {{ title: string, onClose: () => void, children?: any, footer?: any, onSubmit?: () => void }} props */
export function Dialog({ title, onClose, children, footer, onSubmit }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const content = html`<header><h2 id="dialog-title">${title}</h2>
      <button type="button" class="button quiet icon-only" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button></header>
    ${children}${footer && html`<footer>${footer}</footer>`}`;
  return html`<dialog ref=${element} aria-labelledby="dialog-title" onCancel=${(/** @type {Event} */ event) => { event.preventDefault(); onClose(); }}>
    ${onSubmit
      ? html`<form onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); onSubmit(); }}>${content}</form>`
      : html`<div class="dialog">${content}</div>`}
  </dialog>`;
}

/** Asks before something that cannot be taken back easily. @param {{ title: string, children?: any, verb: string, danger?: boolean, busy?: boolean, onYes: () => void, onClose: () => void }} props */
export function Confirm({ title, children, verb, danger = false, busy = false, onYes, onClose }) {
  return html`<${Dialog} title=${title} onClose=${onClose} onSubmit=${onYes} footer=${html`
    <button type="button" class="button" onClick=${onClose}>Cancel</button>
    <button type="submit" class=${danger ? "button danger" : "button primary"} disabled=${busy}>${verb}</button>`}>${children}<//>`;
}
