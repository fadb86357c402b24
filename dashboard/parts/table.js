// A table of a list that is read page by page.
import { html } from "../view.js";
import { Empty, Failure, Skeleton } from "./states.js";

/**
 * @param {{ label: string, list: { items: any[], next: string | null, error: any, loading: boolean, begun: boolean, more: () => void, reload: () => void }, head: any, row: (item: any) => any, empty: any }} props
 */
export function PagedTable({ label, list, head, row, empty }) {
  if (list.error && list.items.length === 0) return html`<div class="body"><${Failure} error=${list.error} what=${`${label} could not be loaded.`} retry=${list.reload} /></div>`;
  if (!list.begun) return html`<${Skeleton} lines=${6} label=${`Loading ${label.toLowerCase()}`} />`;
  if (list.items.length === 0) return empty ?? html`<${Empty} title="Nothing here" />`;
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${label}><table class="table"><thead><tr>${head}</tr></thead><tbody>${list.items.map(row)}</tbody></table></div>
    ${list.error && html`<div class="body"><${Failure} error=${list.error} retry=${list.more} /></div>`}
    ${list.next && html`<div class="more"><button type="button" class="button small" disabled=${list.loading} onClick=${list.more}>${list.loading ? "Loading…" : "Show older"}</button></div>`}`;
}
