// The frame: side bar, top bar on phones, messages, and the help of the keyboard.
import { html, useEffect, useState } from "../view.js";
import { GROUPS, PAGES } from "../pages/index.js";
import { go, place } from "../router.js";
import { actIn, leave, visitor } from "../store/session.js";
import { feedState } from "../store/live.js";
import { pendingCount } from "../store/pending.js";
import { dismiss, toasts } from "../store/toast.js";
import { cycle, theme } from "../store/theme.js";
import { useCell } from "../store/use.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";
import { useKeys } from "./keyboard.js";

const Mark = () => html`<svg viewBox="0 0 20 20" aria-hidden="true"><rect class="bar-a" x="2" y="3" width="4" height="14" rx="1" /><rect class="bar-b" x="8" y="7" width="4" height="10" rx="1" /><rect class="bar-b" x="14" y="11" width="4" height="6" rx="1" /></svg>`;

/** @param {{ children: any }} props */
export function Shell({ children }) {
  const { segments } = useCell(place);
  const [open, setOpen] = useState(false);
  const [help, setHelp] = useState(false);
  const current = segments[0] ?? "";
  useEffect(() => setOpen(false), [current, segments[1]]);
  useKeys({
    "?": () => setHelp(true),
    "/": () => /** @type {HTMLElement | null} */ (document.querySelector("[data-search]"))?.focus(),
    "Escape": () => setOpen(false),
    ...Object.fromEntries(PAGES.map((page) => [`g ${page.key}`, () => go(`/${page.path}`)])),
  }, []);
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to content</a>
    <div class="frame">
      <header class="top">
        <button type="button" class="button quiet icon-only" aria-label="Menu" aria-expanded=${String(open)} aria-controls="side" onClick=${() => setOpen(!open)}><${Icon} name="menu" /></button>
        <a class="brand" href="#/"><${Mark} />Punk</a>
        <${ThemeButton} />
      </header>
      <aside class="side" id="side" data-open=${String(open)}>
        <a class="brand" href="#/"><${Mark} />Punk</a>
        <${Navigation} current=${current} />
        <${Foot} onHelp=${() => setHelp(true)} />
      </aside>
      ${open && html`<button type="button" class="scrim" aria-label="Close the menu" onClick=${() => setOpen(false)} />`}
      <main id="main" tabindex="-1">${children}</main>
    </div>
    <${Toasts} />
    ${help && html`<${Help} onClose=${() => setHelp(false)} />`}`;
}

/** The hash is the router's, so the link may not follow it. @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** @param {{ current: string }} props */
function Navigation({ current }) {
  const pending = useCell(pendingCount);
  return html`<nav class="nav" aria-label="Pages">${GROUPS.map((group) => html`<section class="nav-group" key=${group} aria-label=${group}><h2>${group}</h2><ul>
    ${PAGES.filter((page) => page.group === group).map((page) => html`<li key=${page.path}><a class="nav-link" href=${`#/${page.path}`} aria-current=${page.path === current ? "page" : undefined}>
      <${Icon} name=${page.icon} />${page.title}
      ${page.path === "approvals" && pending > 0 && html`<span class="count" aria-label=${`${pending} waiting`}>${pending > 99 ? "99+" : pending}</span>`}</a></li>`)}
  </ul></section>`)}</nav>`;
}

/** @param {{ onHelp: () => void }} props */
function Foot({ onHelp }) {
  const who = useCell(visitor);
  const feed = useCell(feedState);
  return html`<div class="side-foot">
    ${who.kind === "person" && html`<${Person} person=${who.person} />`}
    ${who.kind === "key" && html`<div class="row"><span>With a key</span><button type="button" class="button quiet small" onClick=${leave}>Leave</button></div>`}
    ${who.kind === "open" && html`<span>Open gateway: whoever reaches it may do everything.</span>`}
    ${feed === "waiting" && html`<span class="warn" role="status">The feed is interrupted; trying again.</span>`}
    <div class="row"><button type="button" class="button quiet small" onClick=${onHelp}><kbd>?</kbd> Keys</button>
      <a class="button quiet small" href="/docs">Docs</a><${ThemeButton} /></div>
  </div>`;
}

/** @param {{ person: import("../types/api").LoggedIn }} props */
function Person({ person }) {
  return html`<div class="stack tight"><span class="truncate" title=${person.user.email}>${person.user.name ?? person.user.email}</span>
    ${person.organisations.length > 1 && html`<select class="input" aria-label="Organisation" value=${person.organisation?.id} onChange=${(/** @type {Event} */ event) => actIn(/** @type {HTMLSelectElement} */ (event.target).value)}>
      ${person.organisations.map((joined) => html`<option key=${joined.id} value=${joined.id} selected=${joined.id === person.organisation?.id}>${joined.name}</option>`)}</select>`}
    <div class="row"><span>${person.organisation?.role ?? "no organisation"}</span><button type="button" class="button quiet small" onClick=${leave}>Log out</button></div></div>`;
}

function ThemeButton() {
  const now = useCell(theme);
  const icon = now === "light" ? "sun" : now === "dark" ? "moon" : "screen";
  return html`<button type="button" class="button quiet icon-only" onClick=${cycle} aria-label=${`Theme: ${now}. Change it.`} title=${`Theme: ${now}`}><${Icon} name=${icon} /></button>`;
}

function Toasts() {
  const list = useCell(toasts);
  return html`<div class="toasts" aria-live="polite">${list.map((toast) => html`<div key=${toast.id} class="notice toast" data-tone=${toast.tone} role=${toast.tone === "bad" ? "alert" : undefined}>
    <${Icon} name=${toast.tone === "good" ? "check" : "warning"} /><div><strong>${toast.title}</strong>${toast.text && html`<p class="soft">${toast.text}</p>`}</div>
    <button type="button" class="button quiet icon-only small" aria-label="Dismiss" onClick=${() => dismiss(toast.id)}><${Icon} name="close" /></button></div>`)}</div>`;
}

/** @param {{ onClose: () => void }} props */
function Help({ onClose }) {
  const row = (/** @type {string[]} */ keys, /** @type {string} */ what) => html`<dt>${keys.map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${what}</dd>`;
  return html`<${Dialog} title="Keyboard" onClose=${onClose}>
    <dl class="keys">${row(["/"], "Search or filter")}${row(["j", "k"], "Next and previous in a list")}${row(["Enter"], "Open it")}${row(["e"], "Approve, in Approvals")}${row(["x"], "Reject, in Approvals")}${row(["l"], "Live tail, in Runs")}${row(["?"], "This help")}
    ${PAGES.map((page) => row(["g", page.key], page.title))}</dl><//>`;
}
