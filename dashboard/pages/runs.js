// Runs: every request that was made, filtered by the gateway, scrolled page by page, followed as it happens.
//
// The search field takes `name:value` words, which the gateway filters by, a run's id, which is opened, and other words,
// which are looked for in what is loaded. All of it is in the address, so a view can be handed to somebody else.
import { html, useEffect, useMemo, useRef, useState } from "../view.js";
import { pages } from "../api.js";
import { count, duration, usd, words } from "../format.js";
import { Ago, RouteBadge, Status } from "../parts/bits.js";
import { Icon } from "../parts/icon.js";
import { useKeys } from "../parts/keyboard.js";
import { PageHead } from "../parts/page.js";
import { Empty, Failure, Skeleton } from "../parts/states.js";
import { VirtualList } from "../parts/virtual-list.js";
import { go, refine } from "../router.js";
import { follow } from "../store/live.js";
import { FILTERS, fits, readSearch, writeSearch } from "../store/run-search.js";
import { usePages } from "../store/use.js";

const ROUTES = ["live", "exact_cache", "artifact", "blocked", "approval_required", "semantic_cache", "plan_cache", "hybrid", "model_substitution", "chorus"];
const STATUSES = ["completed", "blocked", "failed", "waiting", "running", "cancelled"];
const KINDS = ["chat", "messages", "responses", "embeddings", "execution", "ingest", "audit"];

/** @param {{ here: import("../router.js").Place }} props */
export default function Runs({ here }) {
  const address = here.query.toString();
  const filters = useMemo(() => Object.fromEntries(FILTERS.map((name) => [name, here.query.get(name)]).filter(([, value]) => value)), [address]);
  const text = here.query.get("q") ?? "";
  const live = here.query.get("live") === "on";
  const list = usePages(pages("/api/v1/runs", "runs", filters), [JSON.stringify(filters)]);
  const [fresh, setFresh] = useState(/** @type {Set<string>} */ (new Set()));

  const change = (/** @type {Record<string, string | null>} */ next) => refine({ ...filters, q: text, live: live ? "on" : null, ...next });
  useKeys({ l: () => change({ live: live ? null : "on" }) }, [address]);

  useEffect(() => {
    if (!live) return undefined;
    return follow(({ runs }) => {
      const news = runs.filter((run) => fits(run, filters));
      if (news.length === 0) return;
      setFresh(new Set(news.map((run) => run.id)));
      list.change((items) => {
        const known = new Set(news.map((run) => run.id));
        return [...news, ...items.filter((item) => !known.has(item.id))];
      });
    });
  }, [live, JSON.stringify(filters)]);

  const needle = text.toLowerCase();
  const shown = useMemo(() => (needle ? list.items.filter((run) => haystack(run).includes(needle)) : list.items), [list.items, needle]);
  const filtered = Object.keys(filters).length > 0 || text !== "";
  const foot = list.loading ? "Loading older runs…" : list.error ? "Older runs could not be loaded." : list.next === null ? `That is all: ${count(list.items.length)} runs.` : null;

  return html`<${PageHead} title="Runs" about="One line for each request, newest first. Every one can be explained and proven."
      actions=${html`<button type="button" class="button" aria-pressed=${String(live)} onClick=${() => change({ live: live ? null : "on" })} title="Key: l"><${Icon} name=${live ? "check" : "play"} />Live tail</button>`} />
    <div class="stack">
      <${Bar} filters=${filters} text=${text} change=${change} loaded=${list.items.length} found=${shown.length} />
      ${list.error && list.items.length === 0 ? html`<${Failure} error=${list.error} what="Runs could not be loaded." retry=${list.reload} />`
        : !list.begun ? html`<section class="card"><${Skeleton} lines=${10} label="Loading runs" /></section>`
        : shown.length === 0 ? html`<section class="card">${nothing(filtered, list, change)}</section>`
        : html`<section class="card runs"><${VirtualList} label="Runs" items=${shown} keyOf=${idOf} nameOf=${idOf} columns="7rem 9.5rem minmax(8rem, 1fr) minmax(8rem, 1fr) 5.5rem 5.5rem 6rem" head=${HEAD} row=${row}
            open=${(/** @type {any} */ run) => go(`/runs/${run.id}`)} href=${(/** @type {any} */ run) => `#/runs/${run.id}`} more=${list.more} hasMore=${list.next !== null} freshKeys=${fresh} foot=${foot} /></section>`}
    </div>`;
}

const idOf = (/** @type {any} */ run) => run.id;
const haystack = (/** @type {any} */ run) => [run.id, run.app, run.agent, run.model, run.subject, run.status, run.route, run.kind, run.errorCode].join(" ").toLowerCase();

const HEAD = html`<span role="columnheader">When</span><span role="columnheader">Route</span><span role="columnheader">Agent</span><span role="columnheader" class="wide">Model</span><span role="columnheader" class="number wide">Latency</span><span role="columnheader" class="number">Cost</span><span role="columnheader">Status</span>`;

/** @param {any} run */
const row = (run) => html`<span role="cell" class="soft"><${Ago} at=${run.startedAt} /></span><span role="cell"><${RouteBadge} route=${run.route} plain /></span>
  <span role="cell" class="truncate">${run.agent ?? "anonymous"} <span class="faint">${run.app}</span></span><span role="cell" class="truncate soft wide">${run.model ?? words(run.kind)}</span>
  <span role="cell" class="number soft wide">${duration(run.latencyMs)}</span><span role="cell" class="number">${run.savedUsd > 0 ? html`<span class="good" title=${`saved ${usd(run.savedUsd)}`}>−${usd(run.savedUsd)}</span>` : usd(run.costUsd)}</span><span role="cell"><${Status} status=${run.status} /></span>`;

/** @param {boolean} filtered @param {any} list @param {(next: Record<string, string | null>) => void} change */
function nothing(filtered, list, change) {
  const clear = () => change({ ...Object.fromEntries(FILTERS.map((name) => [name, null])), q: null });
  if (!filtered) return html`<${Empty} title="No runs yet" actions=${html`<a class="button primary" href="#/keys?new=on">Make a key</a><a class="button" href="#/playground">Ask something here</a>`}><p>Point an agent at this gateway, and its requests appear here.</p><//>`;
  return html`<${Empty} title="No run fits" actions=${html`<button type="button" class="button" onClick=${clear}>Clear the filters</button>${list.next && html`<button type="button" class="button" onClick=${list.more}>Look at older runs</button>`}`}>
    <p>Words without a name are looked for in the runs that are loaded; <code>agent:name</code>, <code>model:name</code> and the like are looked for in all of them.</p><//>`;
}

/** @param {{ filters: Record<string, string>, text: string, change: (next: Record<string, string | null>) => void, loaded: number, found: number }} props */
function Bar({ filters, text, change, loaded, found }) {
  const [draft, setDraft] = useState(writeSearch(filters, text));
  const written = writeSearch(filters, text);
  const typing = useRef(false);
  useEffect(() => { if (!typing.current) setDraft(written); }, [written]);
  function apply(/** @type {string} */ value) {
    const search = readSearch(value);
    if (search.run) return go(`/runs/${search.run}`);
    // What has a field of its own stays as it is unless it was typed.
    const own = ["route", "status", "kind", "until"];
    change({ ...Object.fromEntries(FILTERS.map((name) => [name, search.filters[name] ?? (own.includes(name) ? (filters[name] ?? null) : null)])), q: search.text });
  }
  const choose = (/** @type {string} */ name) => (/** @type {Event} */ event) => change({ [name]: /** @type {HTMLSelectElement} */ (event.target).value || null });
  return html`<form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); typing.current = false; apply(draft); }}>
    <div class="search"><${Icon} name="search" /><input class="input" data-search type="search" aria-label="Search runs" placeholder="agent:triage model:gpt-4o, a run id, or words" value=${draft} autocomplete="off" spellcheck=${false}
      onInput=${(/** @type {Event} */ event) => { typing.current = true; setDraft(/** @type {HTMLInputElement} */ (event.target).value); }} onBlur=${() => { if (typing.current) { typing.current = false; apply(draft); } }} /><kbd>/</kbd></div>
    ${select("Route", "route", ROUTES, filters, choose)}${select("Status", "status", STATUSES, filters, choose)}${select("Kind", "kind", KINDS, filters, choose)}
    <label class="since"><span class="visually-hidden">Begun before</span><input class="input" type="datetime-local" title="Begun before then" aria-label="Begun before" value=${filters.until ? local(filters.until) : ""} onChange=${(/** @type {Event} */ event) => change({ until: moment(/** @type {HTMLInputElement} */ (event.target).value) })} /></label>
    ${text && html`<span class="small faint" role="status">${count(found)} of ${count(loaded)} loaded</span>`}
  </form>`;
}

/** The gateway wants UTC, people want their own clock. @param {string} value */
const moment = (value) => (value ? new Date(value).toISOString() : null);
/** @param {string} time */
const local = (time) => { const date = new Date(time); return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16); };

/** @param {string} label @param {string} name @param {string[]} options @param {Record<string, string>} filters @param {(name: string) => (event: Event) => void} choose */
const select = (label, name, options, filters, choose) => html`<select class="input narrow" aria-label=${label} value=${filters[name] ?? ""} onChange=${choose(name)}>
  <option value="" selected=${!filters[name]}>${label}: any</option>${options.map((option) => html`<option key=${option} value=${option} selected=${filters[name] === option}>${words(option)}</option>`)}</select>`;
