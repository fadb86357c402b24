// Keys: make one (it is shown once), see what each opens, take one back.
import { html, useState } from "../view.js";
import { pages, post, remove } from "../api.js";
import { Ago, Copy, Status } from "../parts/bits.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Check, SelectField, TextField, problemOf } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Card, PageHead } from "../parts/page.js";
import { Empty, Failure, Notice } from "../parts/states.js";
import { PagedTable } from "../parts/table.js";
import { refine } from "../router.js";
import { attempt } from "../store/toast.js";
import { usePages } from "../store/use.js";

/** @type {Array<[string, string]>} */
const SCOPES = [["gateway", "ask models"], ["read", "look at runs and settings"], ["write", "record runs, events and feedback"], ["approve", "answer questions; for people, not for machines"]];

/** @param {{ here: import("../router.js").Place }} props */
export default function Keys({ here }) {
  const list = usePages(pages("/api/v1/keys", "keys"), []);
  const making = here.query.get("new") === "on";
  const [made, setMade] = useState(/** @type {import("../types/api").MadeKey | null} */ (null));
  const [revoking, setRevoking] = useState(/** @type {any} */ (null));
  const stateOf = (/** @type {any} */ key) => (key.revokedAt ? "revoked" : key.expiresAt && Date.parse(key.expiresAt) < Date.now() ? "expired" : "active");
  async function revoke() {
    await attempt("Revoke", () => remove(`/api/v1/keys/${revoking.id}`), "The key is taken back");
    setRevoking(null);
    list.reload();
  }
  return html`<${PageHead} title="Keys" about="What agents and people show to be let in. A key is shown once, when it is made; only its hash is kept." actions=${html`<button type="button" class="button primary" onClick=${() => refine({ new: "on" })}><${Icon} name="plus" />Make a key</button>`} />
    <div class="stack">${made && html`<${Made} made=${made} onClose=${() => setMade(null)} />`}
    <${Card} label="Keys" plain><${PagedTable} label="Keys" list=${list} head=${html`<th>Key</th><th>Opens</th><th>Mode</th><th>Application</th><th>State</th><th>Made</th><th>Ends</th><th></th>`}
      row=${(/** @type {any} */ key) => html`<tr key=${key.id}><td class="name-cell"><strong class="two-lines">${key.name}</strong><${Copy} text=${key.id} short /></td><td>${key.admin ? html`<span class="tag">admin</span>` : key.scopes.map((/** @type {string} */ scope) => html`<span class="tag">${scope}</span> `)}</td><td>${key.gatewayMode}</td><td class="wrap-anywhere">${key.app ?? html`<span class="faint">any</span>`}</td><td><${Status} status=${stateOf(key)} /></td><td class="when"><${Ago} at=${key.createdAt} /></td><td class="when">${key.expiresAt ? html`<${Ago} at=${key.expiresAt} />` : "never"}</td>
        <td class="actions"><a class="button quiet small" href=${`#/runs?key=${key.id}`}>Runs</a>${stateOf(key) === "active" && html`<button type="button" class="button small danger" onClick=${() => setRevoking(key)}>Revoke</button>`}</td></tr>`}
      empty=${html`<${Empty} title="No keys yet" actions=${html`<button type="button" class="button primary" onClick=${() => refine({ new: "on" })}>Make a key</button>`}><p>Give each agent a key of its own, so that its runs can be told apart and it can be stopped alone.</p><//>`} /><//></div>
    ${making && html`<${NewKey} onClose=${() => refine({})} done=${(/** @type {any} */ key) => { refine({}); setMade(key); list.reload(); }} />`}
    ${revoking && html`<${Confirm} title=${`Take back “${revoking.name}”?`} verb="Revoke" danger onClose=${() => setRevoking(null)} onYes=${revoke}><p>The next request with it is refused. This cannot be undone.</p><//>`}`;
}

/** @param {{ made: import("../types/api").MadeKey, onClose: () => void }} props */
function Made({ made, onClose }) {
  const example = `curl ${location.origin}/v1/chat/completions \\\n  -H "authorization: Bearer ${made.token}" -H "content-type: application/json" \\\n  -d '{"model":"gpt-4o","temperature":0,"messages":[{"role":"user","content":"Where is my parcel?"}]}'`;
  return html`<${Notice} tone="good" role="status" title=${`“${made.key.name}” is made.`} action=${html`<button type="button" class="button quiet icon-only" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>`}>
    Copy it now; it is not shown again.<p class="secret"><${Copy} text=${made.token} label="Copy the key" /></p><p class="soft">Try it:</p><pre class="code wrap">${example}</pre><//>`;
}

/** @param {{ onClose: () => void, done: (made: any) => void }} props */
function NewKey({ onClose, done }) {
  const [values, setValues] = useState({ name: "", app: "", admin: false, gatewayMode: "enforce", scopes: ["gateway", "read", "write"], expiresAt: "", requestsPerMinute: "" });
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const set = (/** @type {keyof typeof values} */ name) => (/** @type {any} */ value) => setValues({ ...values, [name]: value });
  const toggle = (/** @type {string} */ scope) => (/** @type {boolean} */ on) => setValues({ ...values, scopes: on ? [...values.scopes, scope] : values.scopes.filter((other) => other !== scope) });
  async function make() {
    setBusy(true);
    try {
      done(await post("/api/v1/keys", { name: values.name, app: values.app || null, admin: values.admin, gatewayMode: values.gatewayMode, scopes: values.admin ? null : values.scopes, expiresAt: values.expiresAt ? new Date(values.expiresAt).toISOString() : null, requestsPerMinute: values.requestsPerMinute === "" ? null : Number(values.requestsPerMinute) }));
    } catch (problem) { setError(problem); setBusy(false); }
  }
  return html`<${Dialog} title="Make a key" onClose=${onClose} onSubmit=${make} footer=${html`<button type="button" class="button" onClick=${onClose}>Cancel</button><button type="submit" class="button primary" disabled=${busy}>Make it</button>`}>
    <${TextField} label="Name" required autofocus value=${values.name} onInput=${set("name")} problem=${problemOf(error, "name")} placeholder="support bot" />
    <div class="form-grid"><${TextField} label="Application" value=${values.app} onInput=${set("app")} problem=${problemOf(error, "app")} hint="Pinned, whatever requests say." /><${SelectField} label="Mode" value=${values.gatewayMode} onInput=${set("gatewayMode")} options=${[["enforce", "enforce"], ["observe", "observe: record only"]]} /></div>
    <fieldset class="stack tight"><legend>Opens</legend><${Check} label="Everything an admin may do" checked=${values.admin} onChange=${set("admin")} />${SCOPES.map(([scope, means]) => html`<${Check} key=${scope} label=${html`<strong>${scope}</strong>: ${means}`} disabled=${values.admin} checked=${values.admin || values.scopes.includes(scope)} onChange=${toggle(scope)} />`)}</fieldset>
    <div class="form-grid"><${TextField} label="Ends" type="datetime-local" value=${values.expiresAt} onInput=${set("expiresAt")} problem=${problemOf(error, "expiresAt")} hint="Never, when left out." /><${TextField} label="Requests a minute" type="number" min=${0} value=${values.requestsPerMinute} onInput=${set("requestsPerMinute")} problem=${problemOf(error, "requestsPerMinute")} hint="The installation's limit, when left out." /></div>
    ${error && !error.param && html`<${Failure} error=${error} what="It was refused." />`}<//>`;
}
