// Samples of what an artifact was compared on: the input, what live said, and what the artifact said where it is recorded.
//
// A comparison in the place of serving records both answers (`artifact.compared`). One in the shadow is made from the log
// later and records only whether they agreed; then live's answer stands alone.
import { html, useState } from "../view.js";
import { get } from "../api.js";
import { Ago, RunLink } from "./bits.js";
import { Segments } from "./form.js";
import { Card } from "./page.js";
import { Empty, Failure, Skeleton } from "./states.js";
import { useLoad } from "../store/use.js";

/** @param {{ evaluations: import("../types/api").ArtifactEvaluation[] }} props */
export function SampleDiffs({ evaluations }) {
  const differing = evaluations.filter((one) => !one.agreed);
  const [which, setWhich] = useState(differing.length > 0 ? "differ" : "all");
  const shown = (which === "differ" ? differing : evaluations).slice(0, 12);
  return html`<${Card} title="Samples" note="Open one to see what both said" plain actions=${html`<${Segments} label="Which samples" value=${which} onChange=${setWhich} options=${[["differ", `Differing (${differing.length})`], ["all", "All"]]} />`}>
    ${shown.length === 0 ? html`<${Empty} title=${which === "differ" ? "None differed" : "No comparisons yet"} />` : html`<ol class="rows">${shown.map((one) => html`<li key=${one.runId}><${Sample} one=${one} /></li>`)}</ol>`}<//>`;
}

/** @param {{ one: import("../types/api").ArtifactEvaluation }} props */
function Sample({ one }) {
  const [open, setOpen] = useState(false);
  return html`<details onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.target).open)}>
    <summary class="row wrap"><span class="badge" data-tone=${one.agreed ? "good" : "bad"}>${one.agreed ? "agreed" : "differed"}</span><span class="grow">${one.kind}, version ${one.version}</span><span class="faint small"><${Ago} at=${one.at} /></span></summary>
    ${open && html`<${Both} runId=${one.runId} />`}</details>`;
}

/** @param {{ runId: string }} props */
function Both({ runId }) {
  const loaded = useLoad(async (signal) => {
    const [bundle, detail] = await Promise.all([get(`/api/v1/runs/${runId}/replay-bundle`, {}, signal), get(`/api/v1/runs/${runId}`, {}, signal)]);
    const compared = detail.events.find((/** @type {any} */ event) => event.type === "artifact.compared");
    return { bundle, said: compared?.payload.said };
  }, [runId]);
  if (loaded.error) return html`<${Failure} error=${loaded.error} retry=${loaded.reload} />`;
  if (!loaded.data) return html`<${Skeleton} lines=${3} />`;
  const { bundle, said } = loaded.data;
  return html`<div class="diff"><div><h4 class="small faint">Input</h4><pre class="code wrap">${written(bundle?.bundle?.input ?? "Nothing is learned from this run.")}</pre></div>
    <div><h4 class="small faint">Live said</h4><pre class="code wrap">${written(bundle?.bundle?.output ?? "not recorded")}</pre></div>
    <div><h4 class="small faint">The artifact said</h4><pre class="code wrap">${said === undefined ? "Only whether they agreed is recorded." : written(said)}</pre></div><p><${RunLink} run=${runId} /></p></div>`;
}

/** @param {unknown} value */
const written = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
