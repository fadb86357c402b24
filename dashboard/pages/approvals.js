// Approvals: what agents may not do before a person says yes. One list, one question beside it, and the keyboard.
import { html, useEffect, useState } from "../view.js";
import { get, pages, part, post } from "../api.js";
import { plural, words } from "../format.js";
import { Ago, Copy, Facts, RunLink, Status } from "../parts/bits.js";
import { Segments, TextField } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Json } from "../parts/json.js";
import { useKeys } from "../parts/keyboard.js";
import { Card, PageHead } from "../parts/page.js";
import { Empty, Failure, Loaded, Skeleton } from "../parts/states.js";
import { refine } from "../router.js";
import { follow } from "../store/live.js";
import { countPending } from "../store/pending.js";
import { attempt } from "../store/toast.js";
import { useLoad, usePages } from "../store/use.js";

const STATES = ["pending", "approved", "rejected", "used", "expired", "all"];

/** @param {{ here: import("../router.js").Place }} props */
export default function Approvals({ here }) {
  const status = here.query.has("status") ? (here.query.get("status") ?? "") : "pending";
  const list = usePages(pages("/api/v1/approvals", "approvals", { status: status === "all" ? "" : status }), [status]);
  const chosen = here.query.get("id") ?? list.items[0]?.id ?? null;
  const choose = (/** @type {string | null} */ id) => refine({ status: status === "pending" ? null : status, id });
  useEffect(() => follow(({ runs, events }) => {
    if (runs.some((run) => run.route === "approval_required") || events.some((event) => event.type.includes("approval"))) list.reload();
  }), [list.reload]);
  const at = list.items.findIndex((item) => item.id === chosen);
  const move = (/** @type {number} */ step) => { const next = list.items[Math.max(0, Math.min(list.items.length - 1, at + step))]; if (next) choose(next.id); };
  useKeys({ j: () => move(1), k: () => move(-1) }, [list.items, chosen]);
  async function decided() {
    choose(null);
    await list.reload();
    countPending();
  }
  return html`<${PageHead} title="Approvals" about="What an agent may not do before somebody says yes. An approval works once, for exactly what is shown." />
    <div class="stack"><div class="scroll-x"><${Segments} label="Which" value=${status} onChange=${(/** @type {string} */ next) => refine({ status: next === "pending" ? null : next })} options=${STATES.map((name) => [name, words(name)])} /></div>
    ${list.error && list.items.length === 0 ? html`<${Failure} error=${list.error} what="Approvals could not be loaded." retry=${list.reload} />` : !list.begun ? html`<section class="card"><${Skeleton} lines=${6} /></section>`
      : list.items.length === 0 ? html`<section class="card"><${Empty} title=${status === "pending" ? "Nobody waits for you" : "None of these"}><p>${status === "pending" ? html`Questions appear here the moment a policy asks one. ${" "}<a class="link" href="#/governance">The policies</a> say when that is.` : "Choose another state above."}</p><//></section>`
      : html`<div class="split"><section class="card" aria-label="Questions"><ul class="choices">${list.items.map((item) => html`<li key=${item.id}><button type="button" aria-pressed=${String(item.id === chosen)} onClick=${() => choose(item.id)}>
          <span class="row between"><strong class="truncate">${item.action}</strong><${Status} status=${item.status} /></span><span class="row between small faint"><span class="truncate">${item.agent} · ${item.app}</span><${Ago} at=${item.requestedAt} /></span></button></li>`)}</ul>
          ${list.next && html`<div class="more"><button type="button" class="button small" onClick=${list.more}>Show older</button></div>`}</section>
        ${chosen && html`<${Question} key=${chosen} id=${chosen} done=${decided} />`}</div>`}</div>`;
}

/** @param {{ id: string, done: () => Promise<void> }} props */
function Question({ id, done }) {
  const detail = useLoad((signal) => get(`/api/v1/approvals/${part(id)}`, {}, signal), [id]);
  const [reason, setReason] = useState("");
  const [missing, setMissing] = useState(false);
  const [busy, setBusy] = useState(false);
  const pending = detail.data?.approval.status === "pending";
  async function decide(/** @type {"approve" | "reject"} */ decision) {
    if (!pending || busy) return;
    if (decision === "reject" && !reason.trim()) { setMissing(true); /** @type {HTMLElement | null} */ (document.querySelector(".decision textarea"))?.focus(); return; }
    setBusy(true);
    const voted = await attempt(decision === "approve" ? "Approve" : "Reject", () => post(`/api/v1/approvals/${part(id)}/decide`, { decision, reason: reason.trim() || null }), decision === "approve" ? "Approved" : "Rejected");
    setBusy(false);
    if (!voted) return;
    if (voted.approval.status === "pending") detail.reload();
    else await done();
  }
  useKeys({ e: () => decide("approve"), x: () => decide("reject") }, [pending, busy, reason]);
  return html`<${Card} label="Question" plain><${Loaded} of=${detail} lines=${8}>${(/** @type {import("../types/api").ApprovalDetail} */ { approval, payload }) => html`<div class="body stack">
    <div><h2>May <span class="wrap-anywhere">${approval.agent}</span> do <code>${approval.action}</code>?</h2><p class="soft">${approval.tool ? html`With the tool <code>${approval.tool}</code>. ` : ""}Asked by the policy ${approval.policy}${approval.rule === null ? "" : `, rule ${approval.rule}`}; ${plural(approval.needed, "person", "people")} must say yes${approval.roles.length > 0 ? ` (${approval.roles.join(", ")})` : ""}.</p></div>
    <section aria-label="What exactly would be done"><h3>What exactly would be done</h3><div class="payload">${payload === null ? html`<p class="soft">It is not recorded any more.</p>` : html`<${Json} value=${payload} open=${4} />`}</div></section>
    <${Facts} facts=${[["State", html`<${Status} status=${approval.status} />`], ["Asked", html`<${Ago} at=${approval.requestedAt} />`], [approval.status === "pending" ? "Rejected by itself" : "Ends", html`<${Ago} at=${approval.expiresAt} />`], ["Application", approval.app], ["By", approval.requestedBy], ["Run", html`<${RunLink} run=${approval.runId} />`], approval.usedBy && ["Used by", html`<${RunLink} run=${approval.usedBy} />`], ["Payload hash", html`<${Copy} text=${approval.payloadHash} short />`]]} />
    ${approval.votes.length > 0 && html`<ul class="stack tight">${approval.votes.map((vote) => html`<li class="row wrap"><${Status} status=${vote.decision === "approve" ? "approved" : "rejected"} /><span>${vote.by} <span class="faint">as ${vote.role}</span></span><span class="soft wrap-anywhere">${vote.reason}</span></li>`)}</ul>`}
    ${approval.status === "pending" && html`<div class="decision form"><${TextField} label="Reason" rows=${2} value=${reason} onInput=${(/** @type {string} */ value) => { setReason(value); setMissing(false); }} problem=${missing ? "Say why, so that whoever asked can do better." : null} hint="On record. A rejection wants one." />
      <div class="row wrap"><button type="button" class="button primary" disabled=${busy} onClick=${() => decide("approve")}><${Icon} name="check" />Approve <kbd>e</kbd></button><button type="button" class="button danger" disabled=${busy} onClick=${() => decide("reject")}><${Icon} name="close" />Reject <kbd>x</kbd></button></div></div>`}
  </div>`}<//><//>`;
}
