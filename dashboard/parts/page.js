// The head of a page: where it is, what it is called, what it is for, what can be done.
import { html, useEffect } from "../view.js";

/** @param {{ title: any, about?: any, crumbs?: Array<[string, string]>, actions?: any, name?: string }} props */
export function PageHead({ title, about, crumbs, actions, name }) {
  useEffect(() => { if (name ?? typeof title === "string") document.title = `${name ?? title} · Punk`; }, [title, name]);
  return html`<header class="page-head"><div>
      ${crumbs && html`<nav class="crumbs" aria-label="Where this is">${crumbs.map(([text, href]) => html`<a href=${href}>${text}</a><span aria-hidden="true">/</span>`)}</nav>`}
      <h1>${title}</h1>${about && html`<p>${about}</p>`}</div>
    ${actions && html`<div class="actions">${actions}</div>`}</header>`;
}

/** @param {{ title?: any, note?: any, actions?: any, children?: any, plain?: boolean, label?: string }} props */
export function Card({ title, note, actions, children, plain = false, label }) {
  return html`<section class="card" aria-label=${label ?? (typeof title === "string" ? title : undefined)}>
    ${title && html`<header><div><h2>${title}</h2>${note && html`<p>${note}</p>`}</div>${actions && html`<div class="row wrap">${actions}</div>`}</header>`}
    ${plain ? children : html`<div class="body">${children}</div>`}</section>`;
}

/** Tabs that are places of their own. @param {{ label: string, tabs: Array<[string, string]>, current: string, href: (key: string) => string }} props */
export const Tabs = ({ label, tabs, current, href }) => html`<nav class="page-tabs" aria-label=${label}>${tabs.map(([key, text]) => html`<a key=${key} href=${href(key)} aria-current=${key === current ? "page" : undefined}>${text}</a>`)}</nav>`;
