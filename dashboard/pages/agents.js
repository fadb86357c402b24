// Agents: who has asked so far, and how far each is trusted.
import { html } from "../view.js";
import { pages } from "../api.js";
import { count, percent } from "../format.js";
import { Ago, Meter, Status } from "../parts/bits.js";
import { Card, PageHead } from "../parts/page.js";
import { Empty } from "../parts/states.js";
import { PagedTable } from "../parts/table.js";
import { usePages } from "../store/use.js";

export default function Agents() {
  const list = usePages(pages("/api/v1/agents", "agents", {}, "after"), []);
  return html`<${PageHead} title="Agents" about="Trust is earned by behaviour: what an agent did, for how long, what people said of it, and how long ago it last did what it may not. An operator may say otherwise." />
    <${Card} label="Agents" plain><${PagedTable} label="Agents" list=${list} head=${html`<th>Agent</th><th>Trust</th><th>Score</th><th>Tags</th><th class="number">Runs</th><th>Last seen</th>`}
      row=${(/** @type {any} */ agent) => html`<tr key=${agent.name}><td class="name-cell"><a href=${`#/agents/${encodeURIComponent(agent.name)}`}><strong class="two-lines">${agent.name}</strong></a></td><td><${Status} status=${agent.trustTier} />${agent.override && html` <span class="tag">by an operator</span>`}</td>
        <td class="meter-cell"><${Meter} share=${agent.trustScore} label=${`Score ${percent(agent.trustScore)}`} tone="good" /><span class="small faint">${agent.trustScore.toFixed(2)}</span></td><td>${agent.tags.map((/** @type {string} */ tag) => html`<span class="tag">${tag}</span> `)}</td><td class="number">${count(agent.runs)}</td><td class="when"><${Ago} at=${agent.lastSeenAt} /></td></tr>`}
      empty=${html`<${Empty} title="No agent has asked yet"><p>An agent is known by the header <code>x-punk-agent</code> of its requests.</p><//>`} /><//>`;
}
