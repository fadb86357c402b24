// One run: why it was answered so, what happened when, what it did to the world, what had a part in it, and the proof.
import { html, useState } from "../view.js";
import { get, part, post, send } from "../api.js";
import { bytes, count, duration, moment, usd, words } from "../format.js";
import { Ago, Copy, Facts, RouteBadge, Status } from "../parts/bits.js";
import { DecisionPath } from "../parts/decision-path.js";
import { TextField } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Integrity, save } from "../parts/integrity.js";
import { Json } from "../parts/json.js";
import { Card, PageHead } from "../parts/page.js";
import { Loaded } from "../parts/states.js";
import { Timeline } from "../parts/timeline.js";
import { attempt } from "../store/toast.js";
import { useLoad } from "../store/use.js";

/** @typedef {import("../types/api").RunDetail} RunDetail */

/** @param {{ here: import("../router.js").Place }} props */
export default function RunPage({ here }) {
  const id = here.segments[1];
  const detail = useLoad((signal) => get(`/api/v1/runs/${part(id)}`, {}, signal), [id]);
  return html`<${Loaded} of=${detail} lines=${12} what="This run could not be loaded.">${(/** @type {RunDetail} */ data) => html`<${Run} key=${id} data=${data} reload=${detail.reload} />`}<//>`;
}

/** @param {{ data: RunDetail, reload: () => void }} props */
function Run({ data, reload }) {
  const { run, events, sideEffects } = data;
  const started = events.find((event) => event.type === "run.started");
  const finished = events.find((event) => event.type === "run.finished");
  const influences = events.filter((event) => event.type === "memory.influenced");
  const download = () => attempt("Download", async () => save(new Uint8Array(await (await send("GET", `/api/v1/runs/${run.id}/evidence-packet`)).arrayBuffer()), run.id));
  return html`<${PageHead} name=${`Run ${run.id}`} crumbs=${[["Runs", "#/runs"]]} title=${html`${run.model ?? words(run.kind)} <span class="faint">for</span> ${run.agent ?? "anonymous"}`}
      about=${html`<span class="row wrap"><${RouteBadge} route=${run.route} /><${Status} status=${run.status} /><${Copy} text=${run.id} label="Copy the id" /></span>`}
      actions=${html`<button type="button" class="button" disabled=${!run.finished} onClick=${download}><${Icon} name="download" />Evidence packet</button>`} />
    <div class="columns"><div class="stack">
      <${Card} title="Why it went this way"><${DecisionPath} run=${run} /><//>
      <${Exchange} request=${started?.payload.request} answer=${finished?.payload.answer} />
      ${sideEffects.length > 0 && html`<${SideEffects} list=${sideEffects} />`}
      <${Card} title="Trace" note=${`${count(events.length)} events`} plain><${Timeline} events=${events} /><//>
    </div><div class="stack">
      <${Integrity} runId=${run.id} events=${events} finished=${run.finished} />
      <${Card} title="Facts"><${Facts} facts=${factsOf(run)} /><//>
      ${influences.length > 0 && html`<${Influences} list=${influences} />`}
      <${Feedback} run=${run} events=${events} done=${reload} />
    </div></div>`;
}

/** @param {any} run @returns {Array<[string, any] | false>} */
function factsOf(run) {
  const more = (/** @type {string} */ name) => html`<a class="link" href=${`#/runs?${name}=${encodeURIComponent(run[name] ?? "")}`}>${run[name]}</a>`;
  return [
    ["Application", run.app ? more("app") : "–"], ["Agent", run.agent ? more("agent") : "–"], ["Model", run.model ? more("model") : "–"],
    run.subject && ["Subject", more("subject")], run.provider && ["Answered by", run.provider], run.wire && ["Wire", run.wire], run.keyId && ["Key", html`<${Copy} text=${run.keyId} short />`],
    ["Mode", words(run.gatewayMode)], ["Cost", run.costUsd === null ? "no known price" : usd(run.costUsd)], run.savedUsd > 0 && ["Saved", usd(run.savedUsd)],
    ["Tokens", `${count(run.usage.inputTokens)} in, ${count(run.usage.outputTokens)} out${run.usage.estimated ? ", estimated" : ""}`], ["Latency", duration(run.latencyMs)],
    ["Began", html`<span title=${moment(run.startedAt)}>${moment(run.startedAt)}</span>`], ["Kind", words(run.kind)],
  ];
}

/** What was asked and answered, as people read it. @param {{ request: any, answer: any }} props */
function Exchange({ request, answer }) {
  if (!request && !answer) return null;
  const messages = messagesOf(request);
  const reply = textOf(answer);
  return html`<${Card} title="Request and answer" note="As recorded: what was hidden from the ledger is hidden here">
    <div class="stack">${messages ? html`<ol class="exchange">${messages.map((message) => html`<li data-role=${message.role}><span class="tag">${message.role}</span><p class="said">${message.text}</p></li>`)}
        ${reply !== null && html`<li data-role="assistant"><span class="tag">answer</span><p class="said">${reply}</p></li>`}</ol>` : html`<${Json} value=${request} open=${2} />`}
      ${reply === null && answer && html`<${Json} value=${answer} open=${2} name="answer" />`}
      <details><summary class="small faint">As JSON, ${bytes(JSON.stringify({ request, answer }).length)}</summary><${Json} value=${{ request, answer }} open=${3} /></details></div><//>`;
}

/** @param {any} request @returns {Array<{ role: string, text: string }> | null} */
function messagesOf(request) {
  if (!request || typeof request !== "object") return null;
  const list = Array.isArray(request.messages) ? request.messages : Array.isArray(request.input) ? request.input : typeof request.input === "string" ? [{ role: "user", content: request.input }] : typeof request.prompt === "string" ? [{ role: "user", content: request.prompt }] : null;
  if (!list) return null;
  const system = typeof request.system === "string" ? [{ role: "system", content: request.system }] : [];
  return [...system, ...list].map((/** @type {any} */ message) => ({ role: String(message?.role ?? "input"), text: textOf(message) ?? JSON.stringify(message) }));
}

/** The words in a message or an answer, on whichever wire. @param {any} value @returns {string | null} */
function textOf(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) { const texts = value.map(textOf).filter((text) => text !== null); return texts.length > 0 ? texts.join("\n") : null; }
  if (!value || typeof value !== "object") return null;
  for (const name of ["text", "content", "message", "choices", "parts", "output", "reply"]) if (value[name] !== undefined && value[name] !== null) { const text = textOf(value[name]); if (text !== null) return text; }
  return null;
}

/** @param {{ list: any[] }} props */
const SideEffects = ({ list }) => html`<${Card} title="Side effects" note="What it did to the world, or wanted to" plain><div class="table-scroll" tabindex="0" role="region" aria-label="Side effects"><table class="table">
  <thead><tr><th>Tool</th><th>Level</th><th>State</th><th>What exactly</th><th>Planned</th></tr></thead><tbody>${list.map((effect) => html`<tr key=${effect.id}><td class="mono">${effect.toolName}</td><td>${effect.level} of 4</td><td><${Status} status=${effect.status} /></td><td><${Json} value=${effect.payload} open=${1} /></td><td class="when"><${Ago} at=${effect.plannedAt} /></td></tr>`)}</tbody></table></div><//>`;

/** @param {{ list: any[] }} props */
const Influences = ({ list }) => html`<${Card} title="Influences" note="What had a part in it, and how far that is trusted"><ul class="stack tight">${list.map((event) => html`<li key=${event.seq} class="row between"><span class="wrap-anywhere">${String(event.payload.source)}</span><${Status} status=${String(event.payload.trustLane)} /></li>`)}</ul><//>`;

/** @param {{ run: any, events: any[], done: () => void }} props */
function Feedback({ run, events, done }) {
  const [correction, setCorrection] = useState("");
  const [busy, setBusy] = useState(false);
  const given = events.filter((event) => event.type === "feedback.recorded");
  async function rate(/** @type {1 | -1} */ rating) {
    setBusy(true);
    const noted = await attempt("Feedback", () => post(`/api/v1/runs/${run.id}/feedback`, { type: "rating", rating, correction: rating < 0 && correction.trim() ? correction.trim() : null }), "Feedback is on record");
    setBusy(false);
    if (noted) { setCorrection(""); done(); }
  }
  return html`<${Card} title="Feedback" note="One correction takes a learned answer out of service">
    <div class="form">${given.map((event) => html`<p key=${event.seq} class="row"><${Icon} name=${event.payload.rating > 0 ? "up" : "down"} title=${event.payload.rating > 0 ? "Good" : "Bad"} /><span class="wrap-anywhere">${typeof event.payload.correction === "string" ? event.payload.correction : event.payload.rating > 0 ? "Good" : "Bad"}</span> <span class="faint small"><${Ago} at=${event.at} /></span></p>`)}
      <${TextField} label="What it should have been" rows=${2} value=${correction} onInput=${setCorrection} placeholder="Only for a bad answer" />
      <div class="row"><button type="button" class="button" disabled=${busy || !run.finished} onClick=${() => rate(1)}><${Icon} name="up" />Good</button><button type="button" class="button" disabled=${busy || !run.finished} onClick=${() => rate(-1)}><${Icon} name="down" />Bad</button></div></div><//>`;
}
