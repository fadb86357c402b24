// Jobs: work in the background, by where it stands; what was given up can be put back.
import { html } from "../view.js";
import { get, pages, post } from "../api.js";
import { count, words } from "../format.js";
import { Ago, Copy, Stat, Status } from "../parts/bits.js";
import { Segments } from "../parts/form.js";
import { Json } from "../parts/json.js";
import { Card, PageHead } from "../parts/page.js";
import { Empty } from "../parts/states.js";
import { PagedTable } from "../parts/table.js";
import { refine } from "../router.js";
import { attempt } from "../store/toast.js";
import { useLoad, usePages } from "../store/use.js";

const STATES = ["waiting", "leased", "done", "dead"];
/** @type {Record<string, string>} */
const MEANS = { waiting: "for their time or a worker", leased: "a worker has them", done: "finished", dead: "given up after every try" };

/** @param {{ here: import("../router.js").Place }} props */
export default function Jobs({ here }) {
  const state = here.query.get("state") ?? "";
  const list = usePages(pages("/api/v1/jobs", "jobs", { state }), [state]);
  // The gateway lists jobs and does not count them; a page of each is enough to see a queue grow.
  const sizes = useLoad(async (signal) => Promise.all(STATES.map(async (name) => { const page = await get("/api/v1/jobs", { state: name, limit: 100 }, signal); return { name, number: page.jobs.length, more: page.next !== null }; })), []);
  async function requeue(/** @type {any} */ job) {
    await attempt("Requeue", () => post(`/api/v1/jobs/${job.id}/requeue`), "It waits again");
    list.reload();
    sizes.reload();
  }
  return html`<${PageHead} title="Jobs" about="Work in the background: learning, retention, webhooks. What keeps failing is given up after a while, and kept here." actions=${html`<button type="button" class="button" onClick=${() => { list.reload(); sizes.reload(); }}>Refresh</button>`} />
    <div class="stack"><dl class="stats">${STATES.map((name) => { const size = sizes.data?.find((one) => one.name === name); return html`<${Stat} key=${name} label=${name === "dead" ? "Dead letters" : words(name)} value=${size ? `${count(size.number)}${size.more ? "+" : ""}` : "–"} note=${MEANS[name]} tone=${name === "dead" && size && size.number > 0 ? "bad" : undefined} />`; })}</dl>
    <div class="scroll-x"><${Segments} label="State" value=${state} onChange=${(/** @type {string} */ next) => refine({ state: next })} options=${[["", "All"], ...STATES.map((name) => [name, name === "dead" ? "Dead letters" : words(name)])]} /></div>
    <${Card} label="Jobs" plain><${PagedTable} label="Jobs" list=${list} head=${html`<th>Job</th><th>State</th><th class="number">Tries</th><th>Not before</th><th>Last error</th><th>About</th><th></th>`}
      row=${(/** @type {any} */ job) => html`<tr key=${job.id}><td><strong>${words(job.kind)}</strong><br /><${Copy} text=${job.id} short /></td><td><${Status} status=${job.state} /></td><td class="number">${job.attempts} of ${job.maxAttempts}</td><td class="when"><${Ago} at=${job.runAt} /></td><td class="wrap-anywhere">${job.lastError ?? ""}</td><td>${job.payload === null ? "" : html`<${Json} value=${job.payload} open=${0} />`}</td>
        <td class="actions">${job.state === "dead" && html`<button type="button" class="button small" onClick=${() => requeue(job)}>Put back</button>`}</td></tr>`}
      empty=${html`<${Empty} title=${state === "dead" ? "Nothing was given up" : "No jobs"}><p>${state === "dead" ? "Every job of late has come to its end." : "Recurring work is made by the scheduler; choose another state above."}</p><//>`} /><//></div>`;
}
