// Cache: what is kept to be used again, how often it served, and taking it out.
import { html, useState } from "../view.js";
import { get, remove } from "../api.js";
import { bytes, count, words } from "../format.js";
import { Stat } from "../parts/bits.js";
import { Dialog } from "../parts/dialog.js";
import { SelectField, TextField, problemOf } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Card, PageHead } from "../parts/page.js";
import { Failure, Loaded } from "../parts/states.js";
import { tell } from "../store/toast.js";
import { useLoad } from "../store/use.js";

/** @type {Record<string, string>} */
const MEANS = { exact_response: "Answers to identical requests", tool_result: "What tools returned", evaluation: "Comparisons that need not be made twice", negative: "What is not tried again for a while" };

export default function Cache() {
  const stats = useLoad((signal) => get("/api/v1/cache/stats", {}, signal), []);
  const settings = useLoad((signal) => get("/api/v1/settings", {}, signal), []);
  const [clearing, setClearing] = useState(false);
  const cache = settings.data?.settings.cache;
  return html`<${PageHead} title="Cache" about="What was answered once and may be told again, to the same end user of the same tenant alone." actions=${html`<button type="button" class="button danger" onClick=${() => setClearing(true)}><${Icon} name="trash" />Take out…</button>`} />
    <div class="stack"><${Loaded} of=${stats}>${(/** @type {import("../types/api").CacheReport} */ data) => html`<dl class="stats"><${Stat} label="Entries" value=${count(sum(data.stats, "entries"))} /><${Stat} label="Served" value=${count(sum(data.stats, "hits"))} note="times" /><${Stat} label="Size of what they serve" value=${bytes(sum(data.stats, "bytes"))} />
        <${Stat} label="Exact answers" value=${cache ? (cache.exactEnabled ? "on" : "off") : "–"} note=${cache ? html`kept ${count(Math.round(cache.exactTtlSeconds / 3600))} h${cache.deterministicOnly ? ", only without chance" : ""} · <a class="link" href="#/settings">change</a>` : ""} /></dl>
      <${Card} label="By kind" plain><div class="table-scroll" tabindex="0" role="region" aria-label="By kind"><table class="table"><thead><tr><th>Kind</th><th class="number">Entries</th><th class="number">Served</th><th class="number">Each, on average</th><th class="number">Size</th></tr></thead><tbody>${data.stats.map((kind) => html`<tr key=${kind.cacheType}><td><strong>${words(kind.cacheType)}</strong><br /><span class="small faint">${MEANS[kind.cacheType] ?? ""}</span></td><td class="number">${count(kind.entries)}</td><td class="number">${count(kind.hits)}</td><td class="number">${kind.entries ? (kind.hits / kind.entries).toFixed(1) : "–"}</td><td class="number">${bytes(kind.bytes)}</td></tr>`)}</tbody></table></div><//>`}<//></div>
    ${clearing && html`<${Clear} onClose=${() => setClearing(false)} done=${() => { setClearing(false); stats.reload(); }} />`}`;
}

/** @param {import("../types/api").KindStats[]} stats @param {"entries" | "hits" | "bytes"} name */
const sum = (stats, name) => stats.reduce((total, kind) => total + kind[name], 0);

/** @param {{ onClose: () => void, done: () => void }} props */
function Clear({ onClose, done }) {
  const [values, setValues] = useState({ cacheType: "", model: "", subject: "", olderThan: "" });
  const [error, setError] = useState(/** @type {any} */ (null));
  const set = (/** @type {keyof typeof values} */ name) => (/** @type {string} */ value) => setValues({ ...values, [name]: value });
  async function clear() {
    try {
      const { removed } = await remove("/api/v1/cache", { ...values, olderThan: values.olderThan ? new Date(values.olderThan).toISOString() : null });
      tell(`${count(removed)} entries were taken out`, "It is on record.");
      done();
    } catch (problem) { setError(problem); }
  }
  const all = Object.values(values).every((value) => value === "");
  return html`<${Dialog} title="Take out what is kept" onClose=${onClose} onSubmit=${clear} footer=${html`<button type="button" class="button" onClick=${onClose}>Cancel</button><button type="submit" class="button danger">${all ? "Take out everything" : "Take out"}</button>`}>
    <p class="soft">Entries that fit every filter are meant; without one, all.</p><${SelectField} label="Kind" value=${values.cacheType} onInput=${set("cacheType")} options=${[["", "any"], ...Object.keys(MEANS).map((name) => [name, words(name)])]} />
    <div class="form-grid"><${TextField} label="Model" value=${values.model} onInput=${set("model")} problem=${problemOf(error, "model")} /><${TextField} label="About this person" value=${values.subject} onInput=${set("subject")} problem=${problemOf(error, "subject")} /></div><${TextField} label="Made before" type="datetime-local" value=${values.olderThan} onInput=${set("olderThan")} problem=${problemOf(error, "olderThan")} />${error && !error.param && html`<${Failure} error=${error} what="It was refused." />`}<//>`;
}
