// One artifact: its gates one by one, the evidence as a curve, samples held against live, and what can be done with it.
import { html, useMemo, useState } from "../view.js";
import { get, part, post, send } from "../api.js";
import { bytes, count, percent, usd, words } from "../format.js";
import { Ago, Copy, Facts, RunLink, Stat, Status } from "../parts/bits.js";
import { Chart, Legend } from "../parts/chart.js";
import { Confirm } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Lifecycle } from "../parts/lifecycle.js";
import { Card, PageHead } from "../parts/page.js";
import { SampleDiffs } from "../parts/sample-diffs.js";
import { Empty, Loaded, Notice } from "../parts/states.js";
import { save } from "../parts/integrity.js";
import { attempt, tell } from "../store/toast.js";
import { useLoad } from "../store/use.js";

/** @typedef {import("../types/api").ArtifactDetail} ArtifactDetail */

/** @param {{ here: import("../router.js").Place }} props */
export default function ArtifactPage({ here }) {
  const id = here.segments[1];
  const detail = useLoad((signal) => get(`/api/v1/artifacts/${part(id)}`, {}, signal), [id]);
  return html`<${Loaded} of=${detail} lines=${10} what="This artifact could not be loaded.">${(/** @type {ArtifactDetail} */ data) => html`<${Artifact} data=${data} reload=${detail.reload} />`}<//>`;
}

/** What is asked before an artifact is taken where it cannot easily come back from. @type {Record<string, { title: string, verb: string, text: string, done: string, danger: boolean }>} */
const ACTS = {
  promote: { title: "Let it answer?", verb: "Promote", text: "From now on it answers requests of its pattern. A share of them is still compared with live, and one correction takes it out again.", done: "It answers from now on", danger: false },
  rollback: { title: "Take it out of service?", verb: "Roll back", text: "The model answers again at once. It has to be proven anew before it can be promoted.", done: "It is out of service", danger: true },
  quarantine: { title: "Quarantine it?", verb: "Quarantine", text: "It answers nothing and its proof ends, until somebody releases it.", done: "It is quarantined", danger: true },
  release: { title: "Release it?", verb: "Release", text: "You say that its corrections were looked at. Its proof begins anew.", done: "Its proof begins anew", danger: false },
};

/** @param {string} state */
const offered = (state) => (state === "promoted" ? ["rollback", "quarantine"] : state === "quarantined" ? ["release"] : state === "retired" ? [] : ["promote", "quarantine"]);

/** @param {{ data: ArtifactDetail, reload: () => Promise<void> }} props */
function Artifact({ data, reload }) {
  const { artifact, evaluations, pattern } = data;
  const [asked, setAsked] = useState(/** @type {string | null} */ (null));
  const [busy, setBusy] = useState(false);
  const open = artifact.gates.filter((gate) => !gate.passed);
  async function act(/** @type {string} */ verb) {
    setBusy(true);
    await attempt(ACTS[verb].verb, () => post(`/api/v1/artifacts/${artifact.id}/${verb}`), ACTS[verb].done);
    await reload();
    setBusy(false);
    setAsked(null);
  }
  async function replay() {
    const result = await attempt("Replay", () => post(`/api/v1/artifacts/${artifact.id}/replay`));
    if (result) { tell("Tried on recorded runs", `${count(result.answered)} of ${count(result.runs)} answered, ${count(result.disagreed)} otherwise than live.`); reload(); }
  }
  const exportIt = () => attempt("Export", async () => save(new Uint8Array(await (await send("GET", `/api/v1/artifacts/${artifact.id}/export`)).arrayBuffer()), artifact.id));
  return html`<${PageHead} crumbs=${[["Artifacts", "#/artifacts"]]} name="Artifact" title=${`Version ${artifact.version} of a learned ${words(artifact.type)}`} about=${html`<span class="row wrap"><${Status} status=${artifact.state} /><${Copy} text=${artifact.id} label="Copy the id" /></span>`}
      actions=${html`${offered(artifact.state).map((verb) => html`<button key=${verb} type="button" class=${ACTS[verb].danger ? "button danger" : "button primary"} disabled=${busy} onClick=${() => setAsked(verb)}>${ACTS[verb].verb}</button>`)}
        <button type="button" class="button" onClick=${replay}><${Icon} name="refresh" />Replay</button><button type="button" class="button" disabled=${!artifact.program} onClick=${exportIt}><${Icon} name="download" />Export</button>`} />
    <div class="stack">
      <${Card} title="State"><${Lifecycle} state=${artifact.state} /><//>
      <dl class="stats"><${Stat} label="Surely agrees with live" value=${percent(artifact.confidence)} note="by what was compared" /><${Stat} label="Compared" value=${count(artifact.shadow.compared + artifact.audit.compared)} note=${`${count(artifact.shadow.disagreed + artifact.audit.disagreed)} differed`} />
        <${Stat} label="Served" value=${count(artifact.servedRuns)} note=${`${percent(artifact.servedShare)} of what it could answer`} /><${Stat} label="Saved" value=${usd(artifact.savedUsd)} /></dl>
      <div class="columns"><div class="stack"><${Gates} gates=${artifact.gates} /><${Proof} evaluations=${evaluations} artifact=${artifact} /><${SampleDiffs} evaluations=${evaluations} /></div>
        <div class="stack"><${Card} title="What it is"><${Facts} facts=${[["Pattern", pattern ? html`<a class="link" href=${`#/patterns/${pattern.id}`}>${pattern.name || pattern.id}</a>` : "no longer there"], pattern && ["Model", pattern.model], ["Program", artifact.program ? `version ${artifact.program.version}, ${bytes(artifact.program.bytes)}` : "only compared so far"], artifact.program && ["Digest", html`<code class="wrap-anywhere">${artifact.program.digest}</code>`], artifact.openFields.length > 0 && ["Left open", html`<span class="wrap-anywhere">${`${artifact.openFields.join(", ")}: told by ${artifact.smallModel ?? "nobody yet"}`}</span>`], ["Tried on", `${count(artifact.replay.compared)} recorded runs, ${count(artifact.replay.disagreed)} differed`], ["Made", html`<${Ago} at=${artifact.createdAt} />`]]} /><//>
          <${History} artifact=${artifact} /></div></div>
    </div>
    ${asked && html`<${Confirm} title=${ACTS[asked].title} verb=${ACTS[asked].verb} danger=${ACTS[asked].danger} busy=${busy} onClose=${() => setAsked(null)} onYes=${() => act(asked)}><p>${ACTS[asked].text}</p>
      ${asked === "promote" && open.length > 0 && html`<${Notice} tone="warn" title="The gateway will refuse.">${`${open.length === 1 ? "One gate is" : `${open.length} gates are`} not passed: ${open.map((gate) => words(gate.name)).join(", ")}.`}<//>`}<//>`}`;
}

/** @param {{ gates: import("../types/api").PromotionGateStatus[] }} props */
const Gates = ({ gates }) => html`<${Card} title="Gates" note="All have to be passed before it may answer" plain><ol class="gates">${gates.map((gate) => html`<li key=${gate.name} data-passed=${String(gate.passed)}><${Icon} name=${gate.passed ? "check" : "close"} title=${gate.passed ? "Passed" : "Not passed"} /><div><strong>${words(gate.name)}</strong><p class="soft wrap-anywhere">${gate.reason}</p></div></li>`)}</ol><//>`;

/**
 * How sure the agreement is after each comparison. The gate's own bound takes stakes that are not told; what is drawn is
 * the share that agrees, and the bound that holds at every n for stakes of 0.9: (ln 20 + differences · ln 10) / 0.9 n.
 * @param {{ evaluations: import("../types/api").ArtifactEvaluation[], artifact: import("../types/api").Artifact }} props
 */
function Proof({ evaluations, artifact }) {
  const chart = useMemo(() => proofOf(evaluations, artifact), [evaluations, artifact]);
  return html`<${Card} title="Proof" note="Drawn from the comparisons; the gate above has the bound that counts">${chart.times.length < 2 ? html`<${Empty} title="Too few comparisons to draw"><p>Each request that both answer adds one.</p><//>` : html`<div class="stack tight">
    <${Chart} label="Agreement with live, comparison by comparison" times=${chart.times} lines=${chart.lines} height=${190} xLabel="Comparison" numbers tick=${(/** @type {number} */ value) => count(value)} floor=${0.8} /><${Legend} lines=${chart.lines} /></div>`}<//>`;
}

/** @param {import("../types/api").ArtifactEvaluation[]} evaluations @param {import("../types/api").Artifact} artifact */
export function proofOf(evaluations, artifact) {
  const whole = artifact.shadow.compared + artifact.audit.compared;
  const differed = artifact.shadow.disagreed + artifact.audit.disagreed;
  const oldest = [...evaluations].reverse();
  // What was compared before the list begins counts too.
  let compared = Math.max(0, whole - oldest.length);
  let differences = Math.max(0, differed - oldest.filter((one) => !one.agreed).length);
  /** @type {number[]} */ const times = [];
  /** @type {number[]} */ const agreed = [];
  /** @type {number[]} */ const sure = [];
  const add = () => {
    times.push(compared);
    agreed.push(1 - differences / compared);
    sure.push(Math.max(0, 1 - (Math.log(20) + differences * Math.log(10)) / (0.9 * compared)));
  };
  // Where nothing had differed before the list begins, the curve is known from the start.
  if (differences === 0) { const before = compared; for (let i = 1; i <= 80 && i < before; i++) { compared = Math.max(1, Math.round((before * i) / 81)); if (compared !== times[times.length - 1]) add(); } compared = before; }
  for (const one of oldest) {
    compared++;
    if (!one.agreed) differences++;
    add();
  }
  const format = (/** @type {number | null} */ value) => percentFine(value);
  return { times, lines: [
    { label: "agreed", colour: "--route-exact_cache", values: agreed, format },
    { label: "sure, if every stake were 0.9", colour: "--route-artifact", values: sure, format },
    { label: "99 %, the default promise", colour: "--ink-faint", values: times.map(() => 0.99), format, dash: [4, 4] },
  ] };
}

/** @param {number | null} value */
const percentFine = (value) => (value === null || value === undefined ? "–" : `${(value * 100).toFixed(1)} %`);

/** @param {{ artifact: import("../types/api").Artifact }} props */
const History = ({ artifact }) => html`<${Card} title="History" note="What became of it, and which run was the reason"><ol class="stack">${[...artifact.changes].reverse().map((change) => html`<li><span class="row between"><${Status} status=${change.state} /><span class="small faint"><${Ago} at=${change.at} /></span></span><p class="soft wrap-anywhere">${change.reason}</p><${RunLink} run=${change.runId} /></li>`)}
  ${artifact.corrections.map((correction) => html`<li><span class="row between"><span class="badge" data-tone="bad">corrected</span><span class="small faint"><${Ago} at=${correction.at} /></span></span><p class="soft">Version ${correction.version} had answered.</p><${RunLink} run=${correction.runId} /></li>`)}
  ${artifact.changes.length + artifact.corrections.length === 0 && html`<li class="soft">Nothing yet.</li>`}</ol><//>`;
