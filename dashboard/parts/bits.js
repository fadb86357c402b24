// Small things that say one fact: a route, a status, a time, an id.
import { html, useEffect, useState } from "../view.js";
import { ago, moment, shortId, words } from "../format.js";
import { Icon } from "./icon.js";

/** @param {{ route: string | null | undefined, plain?: boolean }} props */
export const RouteBadge = ({ route, plain }) => html`<span class=${plain ? "badge plain" : "badge"} data-route=${route ?? "none"}>${route ? words(route) : "no route"}</span>`;

/** @type {Record<string, string>} */
const TONES = {
  completed: "good", running: "accent", waiting: "warn", blocked: "bad", failed: "bad", cancelled: "quiet",
  pending: "warn", approved: "good", rejected: "bad", expired: "quiet", used: "good",
  observed: "quiet", candidate: "quiet", synthesizing: "accent", replaying: "accent", shadow: "accent", eligible: "warn", promoted: "good", negative: "quiet", retired: "quiet", quarantined: "bad",
  done: "good", leased: "accent", dead: "bad",
  allow: "good", ask: "warn", approval_required: "warn", deny: "bad",
  planned: "warn", executed: "good", suppressed: "quiet",
  active: "good", revoked: "quiet", unverified: "quiet", verified: "accent", trusted: "good", privileged: "good",
  untrusted: "bad", human_approved: "good", accepted: "good", synthesized: "good", aborted: "bad", replay_failed: "bad",
};

/** @param {{ status: string | null | undefined }} props */
export const Status = ({ status }) => html`<span class="badge" data-tone=${TONES[status ?? ""] ?? "quiet"}>${words(status)}</span>`;

// One clock for all relative times, so that a list of a hundred does not set a hundred timers.
const ticks = new Set();
setInterval(() => { for (const tick of ticks) tick(); }, 10_000);

/** @param {{ at: string | null | undefined }} props */
export function Ago({ at }) {
  const [, draw] = useState(0);
  useEffect(() => {
    const tick = () => draw((value) => value + 1);
    ticks.add(tick);
    return () => { ticks.delete(tick); };
  }, []);
  if (!at) return html`<span class="faint">never</span>`;
  return html`<time dateTime=${at} title=${moment(at)}>${ago(at)}</time>`;
}

/** An id or a secret that is copied with a click. @param {{ text: string, label?: string, short?: boolean }} props */
export function Copy({ text, label = "Copy", short = false }) {
  const [copied, setCopied] = useState(false);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch { /* without leave to write, the text is there to be selected */ }
  }
  // What is read out has to hold what is seen, also where that is shortened.
  const shown = short ? shortId(text) : text;
  return html`<button type="button" class="copy" onClick=${copy} aria-label=${`${label}: ${shown}`} title=${text}>
    <span class="truncate">${shown}</span><${Icon} name=${copied ? "check" : "copy"} />
    <span class="visually-hidden" role="status">${copied ? "Copied" : ""}</span></button>`;
}

/** @param {{ run: string | null | undefined }} props */
export const RunLink = ({ run }) => (run ? html`<a class="mono link" href=${`#/runs/${run}`}>${shortId(run)}</a>` : html`<span class="faint">–</span>`);

/** @param {{ label: string, value: any, note?: any, tone?: string }} props */
export const Stat = ({ label, value, note, tone }) => html`<div class="stat"><dt>${label}</dt><dd class=${tone}>${value}${note && html`<span class="note">${note}</span>`}</dd></div>`;

/** A share of something, drawn. @param {{ share: number, label: string, tone?: string }} props */
export const Meter = ({ share, label, tone }) => html`<span class="meter" data-tone=${tone} role="img" aria-label=${label}><i style=${{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} /></span>`;

/** @param {{ facts: Array<[string, any] | null | false> }} props */
export const Facts = ({ facts }) => html`<dl class="facts">${facts.filter(Boolean).map((fact) => {
  const [name, value] = /** @type {[string, any]} */ (fact);
  return html`<dt>${name}</dt><dd>${value}</dd>`;
})}</dl>`;
