// Artifacts: learned programs, how far each is proven, and what each has saved.
import { html } from "../view.js";
import { pages } from "../api.js";
import { count, usd, words } from "../format.js";
import { Ago, Meter, Status } from "../parts/bits.js";
import { Card, PageHead } from "../parts/page.js";
import { Segments } from "../parts/form.js";
import { Empty } from "../parts/states.js";
import { PagedTable } from "../parts/table.js";
import { refine } from "../router.js";
import { usePages } from "../store/use.js";

const STATES = ["", "shadow", "eligible", "promoted", "quarantined", "retired"];

/** @param {{ here: import("../router.js").Place }} props */
export default function Artifacts({ here }) {
  const state = here.query.get("state") ?? "";
  const list = usePages(pages("/api/v1/artifacts", "artifacts", { state }), [state]);
  return html`<${PageHead} title="Artifacts" about="Programs that were learned from repeated work. Each answers only what it was proven on, and only after somebody said so." />
    <div class="stack"><div class="scroll-x"><${Segments} label="State" value=${state} onChange=${(/** @type {string} */ next) => refine({ state: next })} options=${STATES.map((name) => [name, name ? words(name) : "All"])} /></div>
    <${Card} label="Artifacts" plain><${PagedTable} label="Artifacts" list=${list}
      head=${html`<th>Artifact</th><th>State</th><th>Gates</th><th class="number">Compared</th><th class="number">Differed</th><th class="number">Served</th><th class="number">Saved</th><th>Made</th>`}
      row=${(/** @type {any} */ artifact) => {
        const passed = artifact.gates.filter((/** @type {any} */ gate) => gate.passed).length;
        return html`<tr key=${artifact.id}><td><a href=${`#/artifacts/${artifact.id}`}><strong>${words(artifact.type)}, version ${artifact.version}</strong><br /><span class="small faint mono">${artifact.id.slice(-12)}</span></a></td><td><${Status} status=${artifact.state} /></td>
          <td class="meter-cell"><${Meter} share=${artifact.gates.length ? passed / artifact.gates.length : 0} label=${`${passed} of ${artifact.gates.length} gates`} tone=${passed === artifact.gates.length ? "good" : "warn"} /><span class="small faint">${passed} of ${artifact.gates.length}</span></td>
          <td class="number">${count(artifact.shadow.compared + artifact.audit.compared)}</td><td class="number">${count(artifact.shadow.disagreed + artifact.audit.disagreed)}</td><td class="number">${count(artifact.servedRuns)}</td><td class="number">${usd(artifact.savedUsd)}</td><td class="when"><${Ago} at=${artifact.createdAt} /></td></tr>`;
      }}
      empty=${html`<${Empty} title=${state ? `No artifact is ${words(state)}` : "Nothing was learned yet"} actions=${html`<a class="button" href="#/patterns">Look at the patterns</a>`}><p>An artifact is made of a pattern once enough of it has come in.</p><//>`} /><//></div>`;
}
