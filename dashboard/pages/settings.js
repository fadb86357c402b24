// Settings: what holds for the organisation. Each card changes its own part, by a merge patch; the rest stays.
import { html, useState } from "../view.js";
import { call, get } from "../api.js";
import { Facts } from "../parts/bits.js";
import { Check, SelectField, TextField } from "../parts/form.js";
import { Json } from "../parts/json.js";
import { Card, PageHead } from "../parts/page.js";
import { Failure, Loaded } from "../parts/states.js";
import { tell } from "../store/toast.js";
import { choose, theme } from "../store/theme.js";
import { useCell, useLoad } from "../store/use.js";

/** @typedef {import("../types/api").Settings} Settings */

export default function SettingsPage() {
  const settings = useLoad((signal) => get("/api/v1/settings", {}, signal), []);
  const health = useLoad((signal) => get("/health", {}, signal), []);
  const look = useCell(theme);
  const put = (/** @type {any} */ next) => settings.put(next);
  return html`<${PageHead} title="Settings" about="What holds for this organisation. Every change is on record in the audit trail." />
    <${Loaded} of=${settings} lines=${8}>${(/** @type {{ settings: Settings }} */ data) => html`<div class="stack settings" key=${JSON.stringify(data.settings)}>
      <${CacheCard} value=${data.settings.cache} put=${put} /><${QuarantineCard} value=${data.settings.memory_quarantine} put=${put} /><${TripwireCard} value=${data.settings.tripwires} put=${put} /><${RedactionCard} value=${data.settings.redaction} put=${put} /><${ToolsCard} value=${data.settings.tools} put=${put} /></div>`}<//>
    <div class="stack settings last"><${Card} title="This browser"><${SelectField} label="Theme" value=${look} onInput=${choose} options=${[["system", "as the system says"], ["light", "light"], ["dark", "dark"]]} /><//>
      <${Card} title="This gateway"><${Loaded} of=${health} lines=${2}>${(/** @type {any} */ data) => html`<${Facts} facts=${[["Version", data.version], ["Model requests are answered by", data.provider], ["Description of the interface", html`<a class="link" href="/docs">/docs</a>`]]} />`}<//><//></div>`;
}

/** @param {{ title: string, note: string, change: () => any, put: (next: any) => void, children?: any, dirty: boolean }} props */
function Part({ title, note, change, put, children, dirty }) {
  const [error, setError] = useState(/** @type {any} */ (null));
  async function save(/** @type {Event} */ event) {
    event.preventDefault();
    try { const next = await call("PATCH", "/api/v1/settings", { body: change() }); setError(null); tell(`${title}: changed`); put(next); } catch (problem) { setError(problem); }
  }
  return html`<${Card} title=${title} note=${note}><form class="form" onSubmit=${save}>${children}${error && html`<${Failure} error=${error} what=${error.param ? `${error.param} was refused.` : "It was refused."} />`}<div><button type="submit" class="button primary" disabled=${!dirty}>Save</button></div></form><//>`;
}

/** A draft of a part, and whether it differs. @template T @param {T} value @returns {[T, (name: keyof T) => (next: any) => void, boolean]} */
function useDraft(value) {
  const [draft, setDraft] = useState(value);
  return [draft, (name) => (next) => setDraft({ ...draft, [name]: next }), JSON.stringify(draft) !== JSON.stringify(value)];
}

/** @param {{ value: Settings["cache"], put: (next: any) => void }} props */
function CacheCard({ value, put }) {
  const [draft, set, dirty] = useDraft({ ...value, exactTtlSeconds: String(value.exactTtlSeconds) });
  return html`<${Part} title="Cache" note="Whether and how long answers are used again" put=${put} dirty=${dirty} change=${() => ({ cache: { ...draft, exactTtlSeconds: Number(draft.exactTtlSeconds) } })}>
    <${Check} label="Answer identical requests from what was answered before" checked=${draft.exactEnabled} onChange=${set("exactEnabled")} /><${Check} label="Only requests without chance in them (temperature 0)" checked=${draft.deterministicOnly} onChange=${set("deterministicOnly")} />
    <${TextField} label="For how many seconds" type="number" min=${0} max=${2592000} value=${draft.exactTtlSeconds} onInput=${set("exactTtlSeconds")} hint="At most 30 days." /><//>`;
}

/** @param {{ value: Settings["memory_quarantine"], put: (next: any) => void }} props */
function QuarantineCard({ value, put }) {
  const [draft, set, dirty] = useDraft({ ...value, threshold: String(value.threshold) });
  return html`<${Part} title="Memory quarantine" note="Actions that a stranger's text could have shaped wait for a person" put=${put} dirty=${dirty} change=${() => ({ memory_quarantine: { ...draft, threshold: Number(draft.threshold) } })}>
    <${Check} label="Hold such actions back" checked=${draft.enabled} onChange=${set("enabled")} /><div class="form-grid"><${SelectField} label="From level" value=${draft.threshold} onInput=${set("threshold")} options=${[["0", "0, nothing"], ["1", "1, reads"], ["2", "2, can be undone"], ["3", "3, people see it"], ["4", "4, cannot be undone"]]} />
    <${SelectField} label="One vouched influence lifts" value=${draft.coverage} onInput=${set("coverage")} options=${[["source", "what has its own source or hash"], ["run", "everything in its run"]]} /><${SelectField} label="Tools that nobody declared" value=${draft.undeclared} onInput=${set("undeclared")} options=${[["strict", "count as level 3"], ["infer", "are guessed from names"]]} /></div><//>`;
}

/** @param {{ value: Settings["tripwires"], put: (next: any) => void }} props */
function TripwireCard({ value, put }) {
  const [draft, set, dirty] = useDraft(value);
  return html`<${Part} title="Tripwires" note="Calls that would destroy, and text that gives orders to a model" put=${put} dirty=${dirty} change=${() => ({ tripwires: draft })}>
    <${SelectField} label="Calls that would destroy what is hard to get back" value=${draft.destructive} onInput=${set("destructive")} options=${[["block", "are blocked"], ["label", "are only labelled"], ["off", "are not looked for"]]} /><${Check} label="Look for orders to the model in what tools return" checked=${draft.injection} onChange=${set("injection")} /><//>`;
}

/** @type {Array<[string, string]>} */
const MEASURES = [["allow", "allow"], ["redact", "redact"], ["tokenize", "tokenize"], ["block", "block"]];

/** @param {{ value: Settings["redaction"], put: (next: any) => void }} props */
function RedactionCard({ value, put }) {
  const [draft, set, dirty] = useDraft({ secretsIn: value.secrets.in, secretsOut: value.secrets.out, personalIn: value.personal.in, personalOut: value.personal.out, recordPersonal: value.recordPersonal });
  const select = (/** @type {"secretsIn" | "secretsOut" | "personalIn" | "personalOut"} */ name, /** @type {string} */ label) => html`<${SelectField} label=${label} value=${draft[name]} onInput=${set(name)} options=${MEASURES} />`;
  return html`<${Part} title="Redaction" note="What is done with secrets and personal data. Secrets are never recorded." put=${put} dirty=${dirty} change=${() => ({ redaction: { secrets: { in: draft.secretsIn, out: draft.secretsOut }, personal: { in: draft.personalIn, out: draft.personalOut }, recordPersonal: draft.recordPersonal } })}>
    <div class="form-grid">${select("secretsIn", "Secrets on the way to the model")}${select("secretsOut", "Secrets on the way back")}${select("personalIn", "Personal data to the model")}${select("personalOut", "Personal data on the way back")}</div><${Check} label="Record personal data as it is" checked=${draft.recordPersonal} onChange=${set("recordPersonal")} />
    ${(Object.keys(value.classes).length > 0 || Object.keys(value.patterns).length > 0 || Object.keys(value.dictionaries).length > 0) && html`<details><summary class="small faint">Classes, patterns and dictionaries of your own</summary><${Json} value=${{ classes: value.classes, patterns: value.patterns, dictionaries: value.dictionaries }} /></details>`}<//>`;
}

/** @param {{ value: Settings["tools"], put: (next: any) => void }} props */
function ToolsCard({ value, put }) {
  const text = JSON.stringify(value, null, 2);
  const [draft, setDraft] = useState(text);
  let parsed = /** @type {any} */ (null);
  let problem = /** @type {string | null} */ (null);
  try { parsed = JSON.parse(draft); } catch (error) { problem = /** @type {Error} */ (error).message; }
  // A tool that is left out goes: null puts it back to what nobody said.
  const change = () => ({ tools: { ...Object.fromEntries(Object.keys(value).filter((name) => !(name in parsed)).map((name) => [name, null])), ...parsed } });
  return html`<${Part} title="Tools" note="How much each changes, what policies call it, and who writes what it returns" put=${put} dirty=${draft !== text && !problem} change=${change}><${TextField} label="As JSON" mono rows=${Math.min(18, draft.split("\n").length + 1)} value=${draft} onInput=${setDraft} problem=${problem} hint=${'Such as {"send_mail": {"level": 3, "action": "write:email", "egress": true}}'} /><//>`;
}
