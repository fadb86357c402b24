// What the governor would say of an action, and what would be otherwise if something about it were: two questions side
// by side, with their answers and every difference between them. Nothing happens, nothing is recorded.
import { html, useState } from "../view.js";
import { post } from "../api.js";
import { Status } from "./bits.js";
import { ruleOf } from "./decision-path.js";
import { SelectField, TextField, problemOf } from "./form.js";
import { Icon } from "./icon.js";
import { Json } from "./json.js";
import { Card } from "./page.js";
import { Failure, Notice } from "./states.js";

/** @typedef {{ action: string, agent: string, app: string, trustTier: string, tool: string, model: string, level: string, costUsd: string, labels: string, tags: string }} Draft */

/** @type {Draft} */
const BLANK = { action: "write:email", agent: "", app: "", trustTier: "", tool: "", model: "", level: "", costUsd: "", labels: "", tags: "" };
const words = (/** @type {string} */ text) => text.split(",").map((word) => word.trim()).filter(Boolean);

/** @param {Draft} draft */
function hypothesis(draft) {
  /** @type {Record<string, any>} */
  const body = { action: draft.action.trim() };
  for (const name of /** @type {Array<keyof Draft>} */ (["agent", "app", "trustTier", "tool", "model"])) if (draft[name].trim()) body[name] = draft[name].trim();
  if (draft.level) body.level = Number(draft.level);
  if (draft.costUsd) body.costUsd = Number(draft.costUsd);
  if (draft.labels.trim()) body.labels = words(draft.labels);
  if (draft.tags.trim()) body.tags = words(draft.tags);
  return body;
}

export function WhatIf() {
  const [first, setFirst] = useState(BLANK);
  const [second, setSecond] = useState(/** @type {Draft | null} */ (null));
  const [answers, setAnswers] = useState(/** @type {any[]} */ ([]));
  const [errors, setErrors] = useState(/** @type {any[]} */ ([]));
  async function ask(/** @type {Event} */ event) {
    event.preventDefault();
    const settled = await Promise.allSettled([first, ...(second ? [second] : [])].map((draft) => post("/api/v1/policies/explain", hypothesis(draft))));
    setAnswers(settled.map((one) => (one.status === "fulfilled" ? one.value : null)));
    setErrors(settled.map((one) => (one.status === "rejected" ? one.reason : null)));
  }
  return html`<form class="stack" onSubmit=${ask}>
    <div class=${second ? "columns even" : "stack"}><${Question} title="Suppose" draft=${first} change=${setFirst} error=${errors[0]} />${second && html`<${Question} title="And if instead" draft=${second} change=${setSecond} error=${errors[1]} />`}</div>
    <div class="row wrap"><button type="submit" class="button primary">${second ? "Compare" : "Explain"}</button>
      ${second ? html`<button type="button" class="button" onClick=${() => { setSecond(null); setAnswers(answers.slice(0, 1)); }}>Ask one question</button>` : html`<button type="button" class="button" onClick=${() => setSecond({ ...first })}><${Icon} name="plus" />What if it were otherwise?</button>`}</div>
    ${errors.map((error) => error && !error.param && html`<${Failure} error=${error} what="It could not be explained." />`)}
    <div aria-live="polite" class="stack">${answers.length === 2 && answers[0] && answers[1] && html`<${Difference} before=${answers[0]} after=${answers[1]} />`}
      <div class=${answers.length === 2 ? "columns even" : "stack"}>${answers.map((answer) => answer && html`<${Answer} answer=${answer} />`)}</div></div>
    <p class="small faint">What other policies would have said of decisions that were made: <code>punk policy diff</code>.</p></form>`;
}

/** @param {{ title: string, draft: Draft, change: (draft: Draft) => void, error: any }} props */
function Question({ title, draft, change, error }) {
  const field = (/** @type {keyof Draft} */ name, /** @type {string} */ label, /** @type {any} */ more = {}) => html`<${TextField} label=${label} value=${draft[name]} onInput=${(/** @type {string} */ value) => change({ ...draft, [name]: value })} problem=${problemOf(error, name)} ...${more} />`;
  const select = (/** @type {keyof Draft} */ name, /** @type {string} */ label, /** @type {Array<[string, string]>} */ options) => html`<${SelectField} label=${label} value=${draft[name]} onInput=${(/** @type {string} */ value) => change({ ...draft, [name]: value })} options=${options} />`;
  return html`<${Card} title=${title}><div class="form-grid">${field("action", "Action", { required: true, placeholder: "write:email" })}${field("agent", "Agent", { placeholder: "yours" })}${field("tool", "Tool")}${field("model", "Model")}
    ${select("trustTier", "Trust", [["", "as it is"], ["unverified", "unverified"], ["verified", "verified"], ["trusted", "trusted"], ["privileged", "privileged"]])}${select("level", "Side effect level", [["", "not said"], ["0", "0, nothing"], ["1", "1, reads"], ["2", "2, can be undone"], ["3", "3, people see it"], ["4", "4, cannot be undone"]])}
    ${field("costUsd", "Cost in dollars", { type: "number", step: "any", min: 0 })}${field("app", "Application")}${field("tags", "Tags", { placeholder: "batch, night" })}${field("labels", "Labels of the data", { placeholder: "secret" })}</div><//>`;
}

/** @param {{ answer: any }} props */
const Answer = ({ answer }) => html`<${Card} title=${html`<span class="row wrap"><${Status} status=${answer.verdict.effect} /> by ${ruleOf(answer.verdict)}</span>`}>
  <div class="stack"><div><h3>What each voice says</h3>${answer.opinions.length === 0 ? html`<p class="soft">No voice had anything to say, so it is allowed.</p>` : html`<${Json} value=${answer.opinions} open=${3} />`}</div><div><h3>What it goes by</h3><${Json} value=${answer.facts} open=${1} /></div></div><//>`;

/** @param {{ before: any, after: any }} props */
function Difference({ before, after }) {
  const facts = differences(before.facts, after.facts);
  const same = before.verdict.effect === after.verdict.effect;
  return html`<${Notice} tone=${same ? "quiet" : "warn"} title=${same ? "The verdict stays the same:" : "The verdict changes:"}>
    ${same ? html`<${Status} status=${before.verdict.effect} />` : html`<${Status} status=${before.verdict.effect} /> → <${Status} status=${after.verdict.effect} />`} ${ruleOf(before.verdict)}${ruleOf(before.verdict) === ruleOf(after.verdict) ? "" : ` → ${ruleOf(after.verdict)}`}
    ${facts.length > 0 && html`<ul class="small">${facts.map(([name, from, to]) => html`<li><code>${name}</code>: ${from} → ${to}</li>`)}</ul>`}<//>`;
}

/** @param {any} before @param {any} after @returns {Array<[string, string, string]>} */
export function differences(before, after) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort();
  return names.map((name) => /** @type {[string, string, string]} */ ([name, JSON.stringify(before?.[name] ?? null), JSON.stringify(after?.[name] ?? null)])).filter(([, from, to]) => from !== to);
}
