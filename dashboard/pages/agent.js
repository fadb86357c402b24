// One agent: what its trust is made of, and what an operator says of it.
import { html, useState } from "../view.js";
import { get, part, patch } from "../api.js";
import { count } from "../format.js";
import { Ago, Facts, Meter, Stat, Status } from "../parts/bits.js";
import { SelectField, TextField, problemOf } from "../parts/form.js";
import { Card, PageHead } from "../parts/page.js";
import { Failure, Loaded } from "../parts/states.js";
import { tell } from "../store/toast.js";
import { useLoad } from "../store/use.js";

/** @type {Array<["history" | "tenure" | "feedback" | "calm", string]>} */
const PARTS = [["history", "How much of what it did was good"], ["tenure", "On how many days it was there"], ["feedback", "What people said of it"], ["calm", "How long ago it last did what it may not"]];

/** @param {{ here: import("../router.js").Place }} props */
export default function AgentPage({ here }) {
  const name = here.segments[1];
  const detail = useLoad((signal) => get(`/api/v1/agents/${part(name)}`, {}, signal), [name]);
  return html`<${Loaded} of=${detail} what="This agent could not be loaded.">${(/** @type {import("../types/api").AgentDetail} */ { agent }) => html`<${PageHead} crumbs=${[["Agents", "#/agents"]]} name=${agent.name} title=${html`<span class="wrap-anywhere">${agent.name}</span>`} about=${html`<${Status} status=${agent.trustTier} />`} actions=${html`<a class="button" href=${`#/runs?agent=${encodeURIComponent(agent.name)}`}>Its runs</a>`} />
    <div class="columns"><div class="stack"><dl class="stats"><${Stat} label="Score" value=${agent.trustScore.toFixed(2)} note="of 1" /><${Stat} label="Runs" value=${count(agent.runs)} /><${Stat} label="Last seen" value=${html`<${Ago} at=${agent.lastSeenAt} />`} note=${html`first <${Ago} at=${agent.firstSeenAt} />`} /></dl>
      <${Card} title="What the score is made of"><ul class="stack">${PARTS.map(([key, label]) => html`<li key=${key}><span class="row between"><span>${label}</span><span class="faint">${agent.trustComponents[key]} of 1000</span></span><${Meter} share=${agent.trustComponents[key] / 1000} label=${`${label}: ${agent.trustComponents[key]} of 1000`} tone="good" /></li>`)}</ul><//></div>
      <div class="stack">${agent.override && html`<${Card} title="An operator said"><${Facts} facts=${[["Trust", html`<${Status} status=${agent.override.trustTier} />`], ["Why", agent.override.reason ?? "–"], ["Who", agent.override.by ?? "–"], ["When", html`<${Ago} at=${agent.override.at} />`]]} /><//>`}<${Say} key=${`${agent.trustTier}${agent.tags}`} agent=${agent} done=${detail.reload} /></div></div>`}<//>`;
}

/** @param {{ agent: import("../types/api").Agent, done: () => void }} props */
function Say({ agent, done }) {
  const [tier, setTier] = useState(agent.override ? agent.override.trustTier : "");
  const [tags, setTags] = useState(agent.tags.join(", "));
  const [reason, setReason] = useState("");
  const [error, setError] = useState(/** @type {any} */ (null));
  async function say(/** @type {Event} */ event) {
    event.preventDefault();
    try {
      await patch(`/api/v1/agents/${part(agent.name)}`, { trustTier: tier || null, tags: tags.split(",").map((tag) => tag.trim()).filter(Boolean), reason });
      tell("It is on record");
      setError(null);
      done();
    } catch (problem) { setError(problem); }
  }
  return html`<${Card} title="Say how far it is trusted"><form class="form" onSubmit=${say}>
    <${SelectField} label="Trust" value=${tier} onInput=${setTier} options=${[["", "what its behaviour earns"], ["unverified", "unverified"], ["verified", "verified"], ["trusted", "trusted"], ["privileged", "privileged"]]} />
    <${TextField} label="Tags" value=${tags} onInput=${setTags} hint="What policies select it by, with commas between." problem=${problemOf(error, "tags")} /><${TextField} label="Why" required value=${reason} onInput=${setReason} problem=${problemOf(error, "reason")} />
    ${error && !error.param && html`<${Failure} error=${error} what="It was refused." />`}<button type="submit" class="button primary">Put on record</button></form><//>`;
}
