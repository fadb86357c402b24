// Patterns: work that comes again and again, and how far learning it has come.
import { html } from "../view.js";
import { pages, post } from "../api.js";
import { count, duration, percent, plural, usd, words } from "../format.js";
import { Ago, Meter, Status } from "../parts/bits.js";
import { Icon } from "../parts/icon.js";
import { Card, PageHead } from "../parts/page.js";
import { Segments } from "../parts/form.js";
import { Empty } from "../parts/states.js";
import { PagedTable } from "../parts/table.js";
import { refine } from "../router.js";
import { attempt, tell } from "../store/toast.js";
import { usePages } from "../store/use.js";

const STATES = ["", "candidate", "shadow", "eligible", "promoted", "quarantined", "negative"];

/** Learns from what is new now. @param {() => void} done */
export async function learnNow(done) {
  const report = await attempt("Learning", () => post("/api/v1/learning/tick"));
  if (!report) return;
  tell("Learned from what is new", `${plural(report.leaves, "leaf", "leaves")} read, ${plural(report.lessons, "lesson")}, ${plural(report.patternsDiscovered, "new pattern")}, ${plural(report.artifactsSynthesized, "artifact")} made.`);
  done();
}

/** @param {{ here: import("../router.js").Place }} props */
export default function Patterns({ here }) {
  const state = here.query.get("state") ?? "";
  const list = usePages(pages("/api/v1/patterns", "patterns", { state }), [state]);
  return html`<${PageHead} title="Patterns" about="Work that comes again and again in the same words. What is stable enough becomes a program that answers instead of the model, once it is proven."
      actions=${html`<button type="button" class="button" onClick=${() => learnNow(list.reload)}><${Icon} name="refresh" />Learn now</button>`} />
    <div class="stack"><div class="scroll-x"><${Segments} label="State" value=${state} onChange=${(/** @type {string} */ next) => refine({ state: next })} options=${STATES.map((name) => [name, name ? words(name) : "All"])} /></div>
    <${Card} label="Patterns" plain><${PagedTable} label="Patterns" list=${list}
      head=${html`<th>Pattern</th><th>State</th><th class="number">Runs</th><th class="number">Cost of one</th><th class="number">Takes</th><th>Stability</th><th>Seen</th>`}
      row=${(/** @type {any} */ pattern) => html`<tr key=${pattern.id}><td class="name-cell"><a href=${`#/patterns/${pattern.id}`}><strong class="two-lines">${pattern.name || "without words"}</strong><span class="small faint">${pattern.model} · ${words(pattern.taskClass)}</span></a></td>
        <td><${Status} status=${pattern.state} /></td><td class="number">${count(pattern.runCount)}</td><td class="number">${usd(pattern.averageCostUsd)}</td><td class="number">${duration(pattern.averageLatencyMs)}</td>
        <td class="meter-cell"><${Meter} share=${pattern.stabilityScore} label=${`Stability ${percent(pattern.stabilityScore)}`} tone="good" /><span class="small faint">${percent(pattern.stabilityScore)}</span></td><td class="when"><${Ago} at=${pattern.updatedAt} /></td></tr>`}
      empty=${html`<${Empty} title=${state ? `No pattern is ${words(state)}` : "Nothing repeats yet"} actions=${state ? html`<button type="button" class="button" onClick=${() => refine({})}>Show all</button>` : html`<button type="button" class="button" onClick=${() => learnNow(list.reload)}>Learn now</button>`}>
        <p>${state ? "Patterns move on by themselves as runs come in." : "A pattern appears when requests with the same instructions and model come in. Sixteen of them make a candidate."}</p><//>`} /><//></div>`;
}
