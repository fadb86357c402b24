// People: who belongs to the organisation and as what, who is invited, and one's own sessions.
import { html, useState } from "../view.js";
import { get, pages, patch, post, remove } from "../api.js";
import { Ago, Copy, Status } from "../parts/bits.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { SelectField, TextField, problemOf } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Card, PageHead, Tabs } from "../parts/page.js";
import { Empty, Failure, Loaded, Notice } from "../parts/states.js";
import { PagedTable } from "../parts/table.js";
import { visitor } from "../store/session.js";
import { attempt } from "../store/toast.js";
import { useCell, useLoad, usePages } from "../store/use.js";

const ROLES = ["owner", "admin", "operator", "reviewer", "viewer", "auditor"];
const roleOptions = ROLES.map((role) => /** @type {[string, string]} */ ([role, role]));

/** @param {{ here: import("../router.js").Place }} props */
export default function People({ here }) {
  const who = useCell(visitor);
  const tab = here.query.get("tab") ?? "members";
  /** @type {Array<[string, string]>} */
  const tabs = [["members", "Members"], ["invitations", "Invitations"], ["machines", "Machines"], ...(who.kind === "person" ? [/** @type {[string, string]} */ (["sessions", "My sessions"])] : [])];
  return html`<${PageHead} title="People" about="Who logs in, and as what. From the first person on, nobody is let in without a key or a login." /><${Tabs} label="People" tabs=${tabs} current=${tab} href=${(/** @type {string} */ key) => `#/people?tab=${key}`} />
    ${tab === "invitations" ? html`<${Invitations} />` : tab === "machines" ? html`<${Machines} />` : tab === "sessions" ? html`<${Sessions} />` : html`<${Members} />`}`;
}

function Members() {
  const list = usePages(pages("/api/v1/members", "members"), []);
  const [adding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState(/** @type {any} */ (null));
  async function change(/** @type {any} */ member, /** @type {string} */ role) { await attempt("Change of role", () => patch(`/api/v1/members/${member.user}`, { role }), `${member.email} is ${role} now`); list.reload(); }
  async function letGo() { await attempt("Let go", () => remove(`/api/v1/members/${leaving.user}`), "They belong no more"); setLeaving(null); list.reload(); }
  return html`<${Card} title="Members" plain actions=${html`<button type="button" class="button small" onClick=${() => setAdding(true)}><${Icon} name="plus" />Add a person</button>`}><${PagedTable} label="Members" list=${list} head=${html`<th>Person</th><th>Role</th><th>Since</th><th></th>`}
      row=${(/** @type {any} */ member) => html`<tr key=${member.user}><td class="name-cell"><strong class="two-lines">${member.name ?? member.email ?? "somebody who is gone"}</strong><span class="small faint">${member.email}</span></td><td><select class="input narrow" aria-label=${`Role of ${member.email}`} value=${member.role} onChange=${(/** @type {Event} */ event) => change(member, /** @type {HTMLSelectElement} */ (event.target).value)}>${ROLES.map((role) => html`<option value=${role} selected=${role === member.role}>${role}</option>`)}</select></td><td class="when"><${Ago} at=${member.since} /></td>
        <td class="actions"><button type="button" class="button quiet small" onClick=${() => attempt("Log out", () => remove(`/api/v1/members/${member.user}/sessions`), "Their sessions have ended")}>Log out</button><button type="button" class="button small danger" onClick=${() => setLeaving(member)}>Let go</button></td></tr>`}
      empty=${html`<${Empty} title="Nobody logs in here yet" actions=${html`<button type="button" class="button" onClick=${() => setAdding(true)}>Add a person</button>`}><p>This gateway knows keys alone, or is open. Adding the first person closes it: everybody needs a key or a login from then on.</p><//>`} /><//>
    ${adding && html`<${NewPerson} onClose=${() => setAdding(false)} done=${() => { setAdding(false); list.reload(); }} />`}
    ${leaving && html`<${Confirm} title=${`Let ${leaving.email} go?`} verb="Let go" danger onClose=${() => setLeaving(null)} onYes=${letGo}><p>They have nothing left here with the next request.</p><//>`}`;
}

/** @param {{ onClose: () => void, done: () => void }} props */
function NewPerson({ onClose, done }) {
  const [values, setValues] = useState({ email: "", name: "", password: "", role: "owner" });
  const [error, setError] = useState(/** @type {any} */ (null));
  const set = (/** @type {keyof typeof values} */ name) => (/** @type {string} */ value) => setValues({ ...values, [name]: value });
  async function make() { try { await post("/api/v1/users", { ...values, name: values.name || null }); done(); } catch (problem) { setError(problem); } }
  return html`<${Dialog} title="Add a person" onClose=${onClose} onSubmit=${make} footer=${html`<button type="button" class="button" onClick=${onClose}>Cancel</button><button type="submit" class="button primary">Add them</button>`}>
    <${TextField} label="E-mail" type="email" required autofocus value=${values.email} onInput=${set("email")} problem=${problemOf(error, "email")} /><div class="form-grid"><${TextField} label="Name" value=${values.name} onInput=${set("name")} problem=${problemOf(error, "name")} /><${SelectField} label="Role" value=${values.role} onInput=${set("role")} options=${roleOptions} /></div>
    <${TextField} label="First password" type="password" autocomplete="new-password" required value=${values.password} onInput=${set("password")} problem=${problemOf(error, "password")} hint="12 characters or more." />${error && !error.param && html`<${Failure} error=${error} what="It was refused." />`}<//>`;
}

function Invitations() {
  const list = usePages(pages("/api/v1/invitations", "invitations"), []);
  const [values, setValues] = useState({ email: "", role: "viewer" });
  const [error, setError] = useState(/** @type {any} */ (null));
  const [made, setMade] = useState(/** @type {any} */ (null));
  async function invite(/** @type {Event} */ event) {
    event.preventDefault();
    try { setMade(await post("/api/v1/invitations", values)); setError(null); setValues({ email: "", role: "viewer" }); list.reload(); } catch (problem) { setError(problem); }
  }
  async function take(/** @type {any} */ item) { await attempt("Take back", () => remove(`/api/v1/invitations/${item.id}`), "The invitation does not hold any more"); list.reload(); }
  return html`<div class="stack">${made && html`<${Notice} tone="good" role="status" title=${`${made.invitation.email} is invited.`}>Hand this over; it is not shown again.<p class="secret"><${Copy} text=${`${location.origin}/#/login?invitation=${encodeURIComponent(made.token)}`} label="Copy the link" /></p><//>`}
    <${Card} title="Invite somebody"><form class="form-grid" onSubmit=${invite}><${TextField} label="E-mail" type="email" required value=${values.email} onInput=${(/** @type {string} */ email) => setValues({ ...values, email })} problem=${problemOf(error, "email")} /><${SelectField} label="Role" value=${values.role} onInput=${(/** @type {string} */ role) => setValues({ ...values, role })} options=${roleOptions} /><div class="form-end"><button type="submit" class="button primary">Invite</button></div></form>${error && !error.param && html`<${Failure} error=${error} what="It was refused." />`}<//>
    <${Card} label="Invitations" plain><${PagedTable} label="Invitations" list=${list} head=${html`<th>For</th><th>Role</th><th>State</th><th>Made</th><th>Ends</th><th></th>`} empty=${html`<${Empty} title="Nobody is invited" />`}
      row=${(/** @type {any} */ item) => html`<tr key=${item.id}><td>${item.email}</td><td>${item.role}</td><td><${Status} status=${item.status} /></td><td class="when"><${Ago} at=${item.createdAt} /></td><td class="when"><${Ago} at=${item.expiresAt} /></td><td class="actions">${item.status === "pending" && html`<button type="button" class="button small danger" onClick=${() => take(item)}>Take back</button>`}</td></tr>`} /><//></div>`;
}

function Machines() {
  const list = usePages(pages("/api/v1/service-accounts", "serviceAccounts"), []);
  const [name, setName] = useState("");
  const [made, setMade] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  async function make(/** @type {Event} */ event) {
    event.preventDefault();
    try { setMade(await post("/api/v1/service-accounts", { name, scopes: ["gateway", "read", "write"] })); setName(""); setError(null); list.reload(); } catch (problem) { setError(problem); }
  }
  async function act(/** @type {string} */ what, /** @type {() => Promise<any>} */ work, /** @type {string} */ done) { const result = await attempt(what, work, done); if (result?.clientSecret) setMade(result); list.reload(); }
  return html`<div class="stack">${made && html`<${Notice} tone="good" role="status" title=${`The secret of “${made.serviceAccount.name}”.`}>Copy it now; it is not shown again.<p class="secret"><${Copy} text=${made.clientSecret} label="Copy the secret" /></p><p class="small soft">client_id <code class="wrap-anywhere">${made.serviceAccount.clientId}</code></p><//>`}
    <${Card} title="Make an account for a machine"><form class="form-grid" onSubmit=${make}><${TextField} label="Name" required value=${name} onInput=${setName} problem=${problemOf(error, "name")} placeholder="nightly report" /><div class="form-end"><button type="submit" class="button primary">Make it</button></div></form>${error && !error.param && html`<${Failure} error=${error} what="It was refused." />`}<//>
    <${Card} label="Machines" plain><${PagedTable} label="Machines" list=${list} head=${html`<th>Machine</th><th>Opens</th><th>Made</th><th>Secret replaced</th><th></th>`} empty=${html`<${Empty} title="No machine has an account"><p>A machine shows a secret and gets tokens that live for minutes.</p><//>`}
      row=${(/** @type {any} */ item) => html`<tr key=${item.id}><td class="name-cell"><strong class="two-lines">${item.name}</strong><${Copy} text=${item.clientId} short /></td><td>${item.scopes.map((/** @type {string} */ scope) => html`<span class="tag">${scope}</span> `)}</td><td class="when"><${Ago} at=${item.createdAt} /></td><td class="when">${item.rotatedAt ? html`<${Ago} at=${item.rotatedAt} />` : "never"}</td><td class="actions"><button type="button" class="button small" onClick=${() => act("Rotate", () => post(`/api/v1/service-accounts/${item.id}/rotate`, {}), "It has another secret")}>Rotate</button><button type="button" class="button small danger" onClick=${() => act("Remove", () => remove(`/api/v1/service-accounts/${item.id}`), "It is gone")}>Remove</button></td></tr>`} /><//></div>`;
}

function Sessions() {
  const sessions = useLoad((signal) => get("/api/v1/auth/sessions", {}, signal), []);
  const end = async (/** @type {string} */ path, /** @type {string} */ done) => { await attempt("End", () => remove(path), done); sessions.reload(); };
  return html`<${Card} title="My sessions" plain actions=${html`<button type="button" class="button small" onClick=${() => end("/api/v1/auth/sessions", "All others have ended")}>End all others</button>`}><${Loaded} of=${sessions}>${(/** @type {import("../types/api").SessionList} */ data) => html`<div class="table-scroll" tabindex="0" role="region" aria-label="My sessions"><table class="table"><thead><tr><th>Browser</th><th>Address</th><th>Since</th><th>Last used</th><th></th></tr></thead><tbody>${data.sessions.map((session) => html`<tr key=${session.id}><td class="wrap-anywhere">${session.client ?? "unknown"}</td><td>${session.address}</td><td class="when"><${Ago} at=${session.since} /></td><td class="when"><${Ago} at=${session.seenAt} /></td><td class="actions">${session.current ? html`<span class="tag">this one</span>` : html`<button type="button" class="button small danger" onClick=${() => end(`/api/v1/auth/sessions/${session.id}`, "It has ended")}>End</button>`}</td></tr>`)}</tbody></table></div>`}<//><//>`;
}
