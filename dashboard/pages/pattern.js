// One pattern: where it stands and why, what was tried, and what was made of it.
import { html, useState } from "../view.js";
import { get, part, post } from "../api.js";
import { count, duration, percent, usd, words } from "../format.js";
import { Ago, Copy, Facts, Stat, Status } from "../parts/bits.js";
import { Confirm } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Lifecycle } from "../parts/lifecycle.js";
import { Card, PageHead } from "../parts/page.js";
import { Empty, Loaded } from "../parts/states.js";
import { attempt } from "../store/toast.js";
import { useLoad } from "../store/use.js";

/** @param {{ here: import("../router.js").Place }} props */
export default function PatternPage({ here }) {
  const id = here.segments[1];
  const detail = useLoad((signal) => get(`/api/v1/patterns/${part(id)}`, {}, signal), [id]);
  return html`<${Loaded} of=${detail} lines=${10} what="This pattern could not be loaded.">${(/** @type {import("../types/api").PatternDetail} */ data) => html`<${Pattern} data=${data} reload=${detail.reload} />`}<//>`;
}

/** @param {{ data: import("../types/api").PatternDetail, reload: () => Promise<void> }} props */
function Pattern({ data, reload }) {
  const { pattern, artifact, attempts } = data;
  const [retiring, setRetiring] = useState(false);
  const [busy, setBusy] = useState(false);
  async function act(/** @type {string} */ what, /** @type {string} */ verb, /** @type {string} */ done) {
    setBusy(true);
    await attempt(what, () => post(`/api/v1/patterns/${pattern.id}/${verb}`), done);
    await reload();
    setBusy(false);
    setRetiring(false);
  }
  return html`<${PageHead} crumbs=${[["Patterns", "#/patterns"]]} name="Pattern" title=${html`<span class="two-lines">${pattern.name || "without words"}</span>`} about=${html`<${Copy} text=${pattern.id} label="Copy the id" />`}
      actions=${html`<button type="button" class="button" disabled=${busy || pattern.state === "retired"} onClick=${() => act("Synthesis", "synthesize", "An attempt was made")}><${Icon} name="play" />Synthesize now</button>
        <button type="button" class="button danger" disabled=${busy || pattern.state === "retired"} onClick=${() => setRetiring(true)}>Retire</button>`} />
    <div class="stack">
      <${Card} title="State"><${Lifecycle} state=${pattern.state} />${pattern.reasons.length > 0 && html`<ul class="reasons">${pattern.reasons.map((reason) => html`<li class="wrap-anywhere">${reason}</li>`)}</ul>`}<//>
      <dl class="stats"><${Stat} label="Runs live answered" value=${count(pattern.runCount)} /><${Stat} label="Cost of one" value=${usd(pattern.averageCostUsd)} /><${Stat} label="Takes" value=${duration(pattern.averageLatencyMs)} />
        <${Stat} label="Stability" value=${percent(pattern.stabilityScore)} note="answers of one shape, less corrections" /><${Stat} label="Worth learning" value=${percent(pattern.optimizableScore)} /></dl>
      <div class="columns even"><${Card} title="What it is"><${Facts} facts=${[["Model", pattern.model], ["Kind of work", words(pattern.taskClass)], ["Fingerprint", html`<code class="wrap-anywhere">${pattern.fingerprints.task}</code>`], ["First seen", html`<${Ago} at=${pattern.createdAt} />`]]} /><//>
      <${Card} title="Artifact" plain>${artifact ? html`<a class="linked" href=${`#/artifacts/${artifact.id}`}><span class="row between"><strong>Version ${artifact.version}, ${words(artifact.type)}</strong><${Status} status=${artifact.state} /></span>
        <span class="soft">${artifact.gates.filter((gate) => gate.passed).length} of ${artifact.gates.length} gates passed · ${count(artifact.shadow.compared)} comparisons · ${count(artifact.servedRuns)} answers served</span></a>`
        : html`<${Empty} title="None yet"><p>One is made when the pattern is a candidate.</p><//>`}<//></div>
      <${Attempts} list=${attempts} />
    </div>
    ${retiring && html`<${Confirm} title="Retire this pattern?" verb="Retire" danger busy=${busy} onClose=${() => setRetiring(false)} onYes=${() => act("Retire", "retire", "It is ignored from now on")}><p>It is ignored from now on, and what was made of it serves no more.</p><//>`}`;
}

/** @param {{ list: import("../types/api").SynthesisAttempt[] }} props */
const Attempts = ({ list }) => html`<${Card} title="Attempts" note="Every attempt is kept, with the compiler's own report" plain>${list.length === 0 ? html`<${Empty} title="Nothing was tried yet" />` : html`<ol class="rows">${list.map((tried) => html`<li key=${tried.id}><details>
  <summary class="row wrap"><${Status} status=${tried.outcome} /><span class="wrap-anywhere grow">${tried.reason}</span><span class="faint small">${count(tried.sampleCount)} samples${tried.holdoutAccuracy === null ? "" : `, ${percent(tried.holdoutAccuracy)} right on newer ones`} · ${tried.by} · <${Ago} at=${tried.at} /></span></summary>
  <pre class="code wrap">${tried.report.join("\n") || "no report"}</pre></details></li>`)}</ol>`}<//>`;
