// Audit: what operators changed and decided. Each line is a run of its own, so each can be proven.
import { html, useMemo } from "../view.js";
import { pages } from "../api.js";
import { moment } from "../format.js";
import { Ago, RunLink } from "../parts/bits.js";
import { Icon } from "../parts/icon.js";
import { Json } from "../parts/json.js";
import { Card, PageHead } from "../parts/page.js";
import { Empty } from "../parts/states.js";
import { PagedTable } from "../parts/table.js";
import { refine } from "../router.js";
import { usePages } from "../store/use.js";

/** @param {{ here: import("../router.js").Place }} props */
export default function Audit({ here }) {
  const list = usePages(pages("/api/v1/audit", "audit"), []);
  const text = here.query.get("q") ?? "";
  const needle = text.toLowerCase();
  const shown = useMemo(() => (needle ? list.items.filter((row) => JSON.stringify(row).toLowerCase().includes(needle)) : list.items), [list.items, needle]);
  return html`<${PageHead} title="Audit" about="Every change and every decision of an operator, on record in the ledger." />
    <div class="stack"><div class="filters" role="search"><div class="search"><${Icon} name="search" /><input class="input" data-search type="search" aria-label="Search the audit trail" placeholder="Who, what, or to what, in what is loaded" value=${text} onInput=${(/** @type {Event} */ event) => refine({ q: /** @type {HTMLInputElement} */ (event.target).value })} /><kbd>/</kbd></div></div>
    <${Card} label="Audit trail" plain><${PagedTable} label="Audit trail" list=${{ ...list, items: shown }} head=${html`<th>When</th><th>What</th><th>Who</th><th>To what</th><th>Details</th><th>Proof</th>`}
      row=${(/** @type {any} */ row) => html`<tr key=${`${row.runId}-${row.seq}`}><td class="when" title=${moment(row.at)}><${Ago} at=${row.at} /></td><td>${row.action.replace(/^audit\./, "").replaceAll("_", " ")}</td><td class="mono wrap-anywhere">${row.actor ?? "–"}</td><td class="mono wrap-anywhere">${row.target ?? "–"}</td>
        <td>${Object.keys(row.details ?? {}).length > 0 ? html`<${Json} value=${row.details} open=${0} />` : ""}</td><td><${RunLink} run=${row.runId} /></td></tr>`}
      empty=${html`<${Empty} title=${needle ? "Nothing loaded fits" : "Nothing was decided yet"}><p>${needle ? "Clear the search, or show older decisions." : "The first key that is made is the first line here."}</p><//>`} /><//></div>`;
}
