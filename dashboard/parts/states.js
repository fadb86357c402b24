// What a page shows instead of its content: bones while it loads, what to do when there is nothing, and why it failed.
import { html } from "../view.js";
import { sentence } from "../format.js";
import { Icon } from "./icon.js";

/** @param {{ lines?: number, label?: string }} props */
export function Skeleton({ lines = 4, label = "Loading" }) {
  const widths = [92, 74, 84, 61, 88, 70, 79, 66];
  return html`<div class="bones" role="status"><span class="visually-hidden">${label}</span>
    ${Array.from({ length: lines }, (_, i) => html`<span class="bone" key=${i} style=${{ width: `${widths[i % widths.length]}%` }} />`)}
  </div>`;
}

/** @param {{ title: string, children?: any, actions?: any }} props */
export function Empty({ title, children, actions }) {
  return html`<div class="empty"><h3>${title}</h3>${children}${actions && html`<div class="actions">${actions}</div>`}</div>`;
}

/** @param {{ tone?: "good" | "warn" | "bad" | "quiet", title?: any, children?: any, action?: any, role?: string }} props */
export function Notice({ tone = "quiet", title, children, action, role }) {
  const icon = tone === "good" ? "check" : tone === "quiet" ? "info" : "warning";
  return html`<div class="notice" data-tone=${tone} role=${role}><${Icon} name=${icon} /><div>${title && html`<strong>${title}</strong> `}${children}</div>${action}</div>`;
}

/** What the gateway said, in its words, with its hint. @param {{ error: any, what?: string, retry?: () => void }} props */
export function Failure({ error, what = "This could not be loaded.", retry }) {
  const missing = error.status === 403;
  return html`<${Notice} tone=${missing ? "warn" : "bad"} role="alert" title=${missing ? "This takes a permission that you do not have." : what}
    action=${retry && !missing && html`<button class="button small" type="button" onClick=${retry}>Try again</button>`}>
    <span>${sentence(error.message)} ${sentence(error.hint)}</span>
    ${error.runId && html` <a class="link" href=${`#/runs/${error.runId}`}>Look at the run</a>`}
  <//>`;
}

/**
 * Bones, failure, or content. What was loaded before stays while it is loaded again.
 * @param {{ of: { data: any, error: any, loading: boolean, reload: () => void }, lines?: number, what?: string, children: (data: any) => any }} props
 */
export function Loaded({ of, lines, what, children }) {
  if (of.data !== null) return html`${of.error && html`<${Failure} error=${of.error} what="This may be out of date." retry=${of.reload} />`}${children(of.data)}`;
  if (of.error) return html`<${Failure} error=${of.error} what=${what} retry=${of.reload} />`;
  return html`<${Skeleton} lines=${lines} />`;
}
