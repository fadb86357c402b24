// Governance: which policies are in force, what the governor would say of something and why, and what would change if
// something about it were otherwise. Also exceptions and budgets.
import { html, useState } from "../view.js";
import { get, pages, post, remove } from "../api.js";
import { moment, plural, usd } from "../format.js";
import { Ago, Copy, Meter, Status } from "../parts/bits.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { SelectField, TextField, problemOf } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Card, PageHead, Tabs } from "../parts/page.js";
import { Empty, Failure, Loaded, Notice } from "../parts/states.js";
import { PagedTable } from "../parts/table.js";
import { WhatIf } from "../parts/what-if.js";
import { attempt } from "../store/toast.js";
import { useLoad, usePages } from "../store/use.js";

/** @type {Array<[string, string]>} */
const TABS = [["policies", "Policies"], ["explain", "Explain and what-if"], ["exceptions", "Exceptions"], ["budgets", "Budgets"]];

/** @param {{ here: import("../router.js").Place }} props */
export default function Governance({ here }) {
  const tab = here.query.get("tab") ?? "policies";
  return html`<${PageHead} title="Governance" about="What agents may do. Policies are files; what is in force is recorded with every decision." />
    <${Tabs} label="Governance" tabs=${TABS} current=${tab} href=${(/** @type {string} */ key) => `#/governance?tab=${key}`} />
    ${tab === "explain" ? html`<${WhatIf} />` : tab === "exceptions" ? html`<${Exceptions} />` : tab === "budgets" ? html`<${Budgets} />` : html`<${Policies} />`}`;
}

function Policies() {
  const policies = useLoad((signal) => get("/api/v1/policies", {}, signal), []);
  const reload = async () => { await attempt("Reload", () => post("/api/v1/policies/reload"), "The files were read"); policies.reload(); };
  return html`<${Loaded} of=${policies}>${(/** @type {import("../types/api").ShownPolicies} */ data) => html`<div class="stack">
    ${data.refused && html`<${Notice} tone="bad" title="What lies in the folder is not in force.">${data.refused.file}${data.refused.line === null ? "" : `, line ${data.refused.line}`}: ${data.refused.message}. What was in force before still is.<//>`}
    <${Card} title=${`${plural(data.policies.length, "policy", "policies")} in force`} note=${html`since ${moment(data.since)} · <${Copy} text=${data.digest} short label="Copy the digest" />`} actions=${html`<button type="button" class="button small" onClick=${reload}><${Icon} name="refresh" />Read the files now</button>`} plain>
      ${data.policies.length === 0 ? html`<${Empty} title="No policy is in force" actions=${html`<a class="button" href="/docs">How to write one</a>`}><p>Nothing is held back. Put a YAML file into the folder <code>policies</code> and it is in force within seconds.</p><//>`
        : html`<ol class="rows">${data.policies.map((policy) => html`<li><${Policy} policy=${policy} /></li>`)}</ol>`}<//>
    ${data.files.map((file) => html`<${Card} key=${file.name} title=${file.name}><pre class="code" tabindex="0">${file.text}</pre><//>`)}</div>`}<//>`;
}

/** @param {{ policy: any }} props */
function Policy({ policy }) {
  const rules = Array.isArray(policy.rules) ? policy.rules : [];
  return html`<details open><summary class="row wrap"><strong>${String(policy.name ?? "policy")}</strong><span class="soft grow wrap-anywhere">${String(policy.description ?? "")}</span><span class="small faint">otherwise ${String(policy.defaultEffect ?? "")}</span></summary>
    ${policy.appliesTo && html`<p class="small soft">Only for <code>${JSON.stringify(policy.appliesTo)}</code></p>`}
    <div class="table-scroll" tabindex="0" role="region" aria-label=${`Rules of ${policy.name}`}><table class="table inner"><thead><tr><th>#</th><th>Says</th><th>Of</th><th>When</th></tr></thead><tbody>${rules.map((/** @type {any} */ rule, /** @type {number} */ i) => html`<tr><td class="faint">${i}</td>
      <td>${rule.effect ? html`<${Status} status=${rule.effect === "allow" && (rule.requiresApproval || rule.approval) ? "ask" : rule.effect} />` : html`<span class="tag">${rule.budget ? `budget ${usd(rule.budget.limitUsd)}` : `rate ${rule.rate?.limit}`}</span>`}</td>
      <td class="mono wrap-anywhere">${(rule.actions ?? []).join(", ")}</td><td class="wrap-anywhere soft">${rule.when ? JSON.stringify(rule.when) : "always"}</td></tr>`)}</tbody></table></div></details>`;
}

function Exceptions() {
  const list = usePages(pages("/api/v1/exceptions", "exceptions"), []);
  const [making, setMaking] = useState(false);
  const [ending, setEnding] = useState(/** @type {any} */ (null));
  const end = async () => { await attempt("End", () => remove(`/api/v1/exceptions/${ending.id}`), "The exception has ended"); setEnding(null); list.reload(); };
  const holds = (/** @type {any} */ item) => !item.revokedAt && Date.parse(item.expiresAt) > Date.now();
  return html`<${Card} title="Exceptions" note="A policy does not hold for somebody, for a while, for a reason" plain actions=${html`<button type="button" class="button small" onClick=${() => setMaking(true)}><${Icon} name="plus" />Make one</button>`}>
    <${PagedTable} label="Exceptions" list=${list} head=${html`<th>Policy</th><th>Actions</th><th>For</th><th>Why</th><th>State</th><th>Ends</th><th></th>`} empty=${html`<${Empty} title="No exceptions" />`}
      row=${(/** @type {any} */ item) => html`<tr key=${item.id}><td>${item.policy}${item.rule === null ? "" : `, rule ${item.rule}`}</td><td class="mono">${item.actions.join(", ")}</td><td>${[item.agent, item.app].filter(Boolean).join(", ") || "everybody"}</td><td class="wrap-anywhere">${item.reason}</td><td><${Status} status=${holds(item) ? "active" : item.revokedAt ? "revoked" : "expired"} /></td><td class="when"><${Ago} at=${item.expiresAt} /></td>
        <td class="actions">${holds(item) && html`<button type="button" class="button small danger" onClick=${() => setEnding(item)}>End</button>`}</td></tr>`} /><//>
    ${making && html`<${NewException} onClose=${() => setMaking(false)} done=${() => { setMaking(false); list.reload(); }} />`}
    ${ending && html`<${Confirm} title="End this exception?" verb="End it" danger onClose=${() => setEnding(null)} onYes=${end}><p>From the next request on, ${ending.policy} holds again.</p><//>`}`;
}

/** @param {{ onClose: () => void, done: () => void }} props */
function NewException({ onClose, done }) {
  const [values, setValues] = useState({ policy: "", rule: "", actions: "", agent: "", app: "", reason: "", hours: "8" });
  const [error, setError] = useState(/** @type {any} */ (null));
  const field = (/** @type {keyof typeof values} */ name, /** @type {string} */ label, /** @type {any} */ more = {}) => html`<${TextField} label=${label} value=${values[name]} onInput=${(/** @type {string} */ value) => setValues({ ...values, [name]: value })} problem=${problemOf(error, name)} ...${more} />`;
  async function make() {
    try {
      await post("/api/v1/exceptions", { policy: values.policy, rule: values.rule === "" ? null : Number(values.rule), actions: values.actions.split(",").map((text) => text.trim()).filter(Boolean), agent: values.agent || null, app: values.app || null, reason: values.reason, hours: Number(values.hours) });
      done();
    } catch (problem) { setError(problem); }
  }
  return html`<${Dialog} title="Make an exception" onClose=${onClose} onSubmit=${make} footer=${html`<button type="button" class="button" onClick=${onClose}>Cancel</button><button type="submit" class="button primary">Make it</button>`}>
    <div class="form-grid">${field("policy", "Policy", { required: true, autofocus: true })}${field("rule", "Rule", { type: "number", min: 0, hint: "All of it when left out." })}</div>
    ${field("actions", "Actions", { required: true, placeholder: "write:email, read:*" })}<div class="form-grid">${field("agent", "Agent", { hint: "Everybody when left out." })}${field("app", "Application")}</div>
    <div class="form-grid">${field("hours", "Hours", { type: "number", min: 1, max: 2160, required: true })}</div>${field("reason", "Why", { required: true })}${error && !error.param && html`<${Failure} error=${error} what="It was refused." />`}<//>`;
}

function Budgets() {
  const list = usePages(pages("/api/v1/budgets", "budgets"), []);
  const [making, setMaking] = useState(false);
  const [ending, setEnding] = useState(/** @type {any} */ (null));
  const end = async () => { await attempt("End", () => remove(`/api/v1/budgets/${ending.id}`), "The budget holds no more"); setEnding(null); list.reload(); };
  return html`<${Card} title="Budgets" note="What may be spent on models" plain actions=${html`<button type="button" class="button small" onClick=${() => setMaking(true)}><${Icon} name="plus" />Set one</button>`}>
    <${PagedTable} label="Budgets" list=${list} head=${html`<th>Budget</th><th>Of</th><th class="number">Limit</th><th>Spent</th><th>When it is used up</th><th></th>`} empty=${html`<${Empty} title="No budget holds" actions=${html`<button type="button" class="button" onClick=${() => setMaking(true)}>Set one</button>`}><p>Spending is only counted, and never held back.</p><//>`}
      row=${(/** @type {any} */ item) => html`<tr key=${item.id}><td><strong>${item.name}</strong></td><td>${item.only ?? `each ${item.per}`}, a ${item.window}</td><td class="number">${usd(item.limitUsd)}</td>
        <td class="meter-cell">${item.spentUsd === null ? html`<span class="faint">counted apart</span>` : html`<${Meter} share=${item.spentUsd / item.limitUsd} label=${`${usd(item.spentUsd)} of ${usd(item.limitUsd)}`} tone=${item.spentUsd >= item.limitUsd ? "bad" : "good"} /><span class="small faint">${usd(item.spentUsd)}</span>`}</td>
        <td>${item.hard ? "refuse" : "tell"}</td><td class="actions"><button type="button" class="button small danger" onClick=${() => setEnding(item)}>End</button></td></tr>`} /><//>
    ${making && html`<${NewBudget} onClose=${() => setMaking(false)} done=${() => { setMaking(false); list.reload(); }} />`}
    ${ending && html`<${Confirm} title="End this budget?" verb="End it" danger onClose=${() => setEnding(null)} onYes=${end}><p>Nothing bounds ${ending.name} any more.</p><//>`}`;
}

/** @param {{ onClose: () => void, done: () => void }} props */
function NewBudget({ onClose, done }) {
  const [values, setValues] = useState({ name: "", limitUsd: "5", per: "agent", only: "", window: "day", hard: "true" });
  const [error, setError] = useState(/** @type {any} */ (null));
  const set = (/** @type {keyof typeof values} */ name) => (/** @type {string} */ value) => setValues({ ...values, [name]: value });
  const words = (/** @type {string[]} */ list) => list.map((word) => [word, word]);
  async function make() {
    try {
      await post("/api/v1/budgets", { name: values.name, limitUsd: Number(values.limitUsd), per: values.per, only: values.only || null, window: values.window, hard: values.hard === "true" });
      done();
    } catch (problem) { setError(problem); }
  }
  return html`<${Dialog} title="Set a budget" onClose=${onClose} onSubmit=${make} footer=${html`<button type="button" class="button" onClick=${onClose}>Cancel</button><button type="submit" class="button primary">Set it</button>`}>
    <${TextField} label="Name" required autofocus value=${values.name} onInput=${set("name")} problem=${problemOf(error, "name")} />
    <div class="form-grid"><${TextField} label="Limit in dollars" type="number" min=${0} step="any" required value=${values.limitUsd} onInput=${set("limitUsd")} problem=${problemOf(error, "limitUsd")} /><${SelectField} label="A" value=${values.window} onInput=${set("window")} options=${words(["minute", "hour", "day", "month", "total"])} /></div>
    <div class="form-grid"><${SelectField} label="Counted by" value=${values.per} onInput=${set("per")} options=${words(["tenant", "app", "agent", "key", "subject", "run"])} /><${TextField} label="Of this one alone" value=${values.only} onInput=${set("only")} hint="Of each, when left out." problem=${problemOf(error, "only")} /></div>
    <${SelectField} label="When it is used up" value=${values.hard} onInput=${set("hard")} options=${[["true", "refuse"], ["false", "only tell"]]} />${error && !error.param && html`<${Failure} error=${error} what="It was refused." />`}<//>`;
}
