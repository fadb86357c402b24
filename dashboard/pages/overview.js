// Overview: what was saved and spent, how requests are answered over time, how long that takes, and what happens now.
import { html, useEffect, useMemo, useState } from "../view.js";
import { compact, count, day, duration, percent, usd, words } from "../format.js";
import { RouteBadge, Ago, Stat } from "../parts/bits.js";
import { Chart, Legend } from "../parts/chart.js";
import { Card, PageHead } from "../parts/page.js";
import { Segments } from "../parts/form.js";
import { Empty, Failure, Skeleton } from "../parts/states.js";
import { follow, feedState } from "../store/live.js";
import { buckets, latencies, mixOf, readDays, readLatest, readTotal } from "../store/usage.js";
import { useCell, useLoad } from "../store/use.js";

const FEED = 10;

export default function Overview() {
  const [range, setRange] = useState("14");
  const total = useLoad((signal) => readTotal(Number(range), signal), [range]);
  const days = useLoad((signal) => readDays(Number(range), signal), [range]);
  const latest = useLoad(readLatest, []);
  const [fresh, setFresh] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const stop = follow(({ runs }) => {
      const answered = runs.filter((run) => run.route);
      if (answered.length === 0) return;
      setFresh((before) => [...answered, ...before].slice(0, 400));
      // The sums follow a little later: once for many runs.
      timer ??= setTimeout(() => { timer = undefined; total.reload(); days.reload(); }, 2500);
    });
    return () => { clearTimeout(timer); stop(); };
  }, [total.reload, days.reload]);
  const runs = useMemo(() => merge(fresh, latest.data ?? []), [fresh, latest.data]);
  const isNew = total.data !== null && latest.data !== null && total.data.totalRuns === 0 && runs.length === 0;
  return html`<${PageHead} title="Overview" about="What your agents asked, how it was answered, and what that saved."
      actions=${html`<${Segments} label="Days" value=${range} onChange=${setRange} options=${[["7", "7 days"], ["14", "14 days"], ["30", "30 days"]]} />`} />
    ${isNew ? html`<${Welcome} />` : html`<div class="stack">
      <${Figures} sums=${total} />
      <div class="columns"><div class="stack">
        <${Mix} days=${days} runs=${runs} loaded=${latest.data !== null} />
        <div class="columns even"><${Money} days=${days} /><${Latency} runs=${runs} error=${latest.error} loading=${latest.data === null} retry=${latest.reload} /></div>
      </div><${Feed} runs=${runs} loading=${latest.data === null && fresh.length === 0} /></div></div>`}`;
}

/** @param {any[]} fresh @param {any[]} known */
function merge(fresh, known) {
  const seen = new Set(fresh.map((run) => run.id));
  return [...fresh, ...known.filter((run) => !seen.has(run.id))].slice(0, 400);
}

/** @param {{ sums: any }} props */
function Figures({ sums }) {
  if (sums.error && !sums.data) return html`<${Failure} error=${sums.error} what="The sums could not be loaded." retry=${sums.reload} />`;
  if (!sums.data) return html`<dl class="stats" aria-busy="true">${["Saved", "Spent", "Answered without the model", "Runs", "Held back"].map((label) => html`<div class="stat" key=${label}><dt>${label}</dt><dd><span class="bone" style=${{ width: "60%", height: "1.4rem", margin: "0.3rem 0" }} /><span class="note">${"\u00a0"}</span></dd></div>`)}</dl>`;
  const total = sums.data;
  const answered = total.liveRuns + total.optimizedRuns;
  const whole = total.totalCostUsd + total.totalSavedUsd;
  return html`<dl class="stats">
    <${Stat} label="Saved" value=${usd(total.totalSavedUsd)} note=${whole > 0 ? `${percent(total.totalSavedUsd / whole)} of what live alone would cost` : "nothing was answered cheaper yet"} />
    <${Stat} label="Spent" value=${usd(total.totalCostUsd)} note=${total.unpricedRuns > 0 ? `${count(total.unpricedRuns)} runs have no known price` : total.ghostSavedUsd > 0 ? `${usd(total.ghostSavedUsd)} more could be saved by enforcing` : "every run has a price"} />
    <${Stat} label="Answered without the model" value=${percent(answered ? total.optimizedRuns / answered : 0)} note=${`${duration(total.totalSavedMs)} of waiting saved`} />
    <${Stat} label="Runs" value=${compact(total.totalRuns)} note=${`${count(total.failedRuns)} failed`} />
    <${Stat} label="Held back" value=${compact(total.blockedRuns)} note="by policy, budget or guard" />
  </dl>`;
}

/** @type {Array<[keyof ReturnType<typeof mixOf>, string, string]>} */
const MIX = [["live", "live", "--route-live"], ["cache", "cache", "--route-exact_cache"], ["artifact", "artifact", "--route-artifact"], ["blocked", "held back", "--route-blocked"], ["failed", "failed", "--route-none"]];

/** @param {{ days: any, runs: any[], loaded: boolean }} props */
function Mix({ days, runs, loaded }) {
  const busyDays = days.data ? days.data.sums.filter((/** @type {any} */ sums) => sums.totalRuns > 0).length : 0;
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  const view = chosen ?? (busyDays > 2 ? "days" : "latest");
  const chart = useMemo(() => (view === "days" ? dayMix(days.data) : latestMix(runs)), [view, days.data, runs]);
  const ready = view === "days" ? days.data !== null : loaded;
  return html`<${Card} title="Route mix" note=${view === "days" ? "Runs a day, by how they were answered" : `The latest ${count(runs.length)} runs, as they came`} actions=${html`<${Segments} label="Route mix of" value=${view} onChange=${setChosen} options=${[["latest", "Latest runs"], ["days", "By day"]]} />`}>
    ${!ready ? html`<${Skeleton} lines=${5} />` : chart.times.length === 0 ? html`<${Empty} title="No runs in this time"><p>Choose more days, or send a request.</p><//>` : html`<div class="stack tight">
      <${Chart} label="Route mix over time" times=${chart.times} lines=${chart.lines} kind="bars" stacked height=${220} tick=${chart.tick} />
      <${Legend} lines=${chart.lines.map((line) => ({ label: line.label, colour: line.colour, value: count(sumOf(line.values)) }))} /></div>`}
  <//>`;
}

/** @param {number[]} values */
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

/** @param {any} data */
function dayMix(data) {
  if (!data) return { times: [], lines: [], tick: undefined };
  const mixes = data.sums.map(mixOf);
  const lines = MIX.map(([key, label, colour]) => ({ label, colour, values: mixes.map((/** @type {any} */ mix) => mix[key]), format: (/** @type {number | null} */ value) => compact(value) }))
    .filter((line) => line.values.some((/** @type {number} */ value) => value > 0));
  return { times: lines.length === 0 ? [] : data.days.map((/** @type {string} */ text) => Date.parse(text) / 1000), lines, tick: (/** @type {number} */ time) => day(time * 1000) };
}

/** @param {any[]} runs */
function latestMix(runs) {
  const { times, byRoute } = buckets(runs, 36);
  const lines = [...byRoute].map(([route, values]) => ({ label: words(route), colour: `--route-${route}`, values, format: (/** @type {number | null} */ value) => compact(value) }));
  return { times, lines, tick: undefined };
}

/** @param {{ days: any }} props */
function Money({ days }) {
  const chart = useMemo(() => (days.data ? {
    times: days.data.days.map((/** @type {string} */ text) => Date.parse(text) / 1000),
    lines: [
      { label: "spent", colour: "--route-live", values: days.data.sums.map((/** @type {any} */ sums) => sums.totalCostUsd), format: usd },
      { label: "saved", colour: "--route-exact_cache", values: days.data.sums.map((/** @type {any} */ sums) => sums.totalSavedUsd), format: usd },
    ],
  } : null), [days.data]);
  return html`<${Card} title="Cost" note="Spent, and saved on top, a day">${chart ? html`<div class="stack tight">
    <${Chart} label="Cost over time" times=${chart.times} lines=${chart.lines} kind="bars" stacked height=${150} tick=${(/** @type {number} */ time) => day(time * 1000)} /><${Legend} lines=${chart.lines} /></div>` : html`<${Skeleton} />`}<//>`;
}

/** @param {{ runs: any[], error: any, loading: boolean, retry: () => void }} props */
function Latency({ runs, error, loading, retry }) {
  const rows = useMemo(() => latencies(runs), [runs]);
  const longest = Math.max(1, ...rows.map((row) => row.p95 ?? 0));
  return html`<${Card} title="Latency" note=${`By route, of the latest ${count(runs.length)} runs`} plain>
    ${error ? html`<div class="body"><${Failure} error=${error} retry=${retry} /></div>` : loading ? html`<${Skeleton} /> ` : rows.length === 0 ? html`<${Empty} title="Nothing measured yet" />` : html`<div class="table-scroll" tabindex="0" role="region" aria-label="Latency by route"><table class="table"><thead><tr><th>Route</th><th class="number">Median</th><th class="number">95 %</th><th><span class="visually-hidden">Drawn</span></th></tr></thead><tbody>
      ${rows.map((row) => html`<tr key=${row.route}><td><${RouteBadge} route=${row.route} plain /></td><td class="number">${duration(row.median)}</td><td class="number">${duration(row.p95)}</td>
        <td class="latency-bar"><span class="meter" data-route=${row.route} aria-hidden="true"><i style=${{ width: `${Math.max(2, ((row.p95 ?? 0) / longest) * 100)}%` }} /></span></td></tr>`)}</tbody></table></div>`}<//>`;
}

/** @param {{ runs: any[], loading: boolean }} props */
function Feed({ runs, loading }) {
  const state = useCell(feedState);
  return html`<${Card} title="Live" plain label="Live feed" note="Runs as they end"
      actions=${html`<span class="badge plain" data-tone=${state === "live" ? "good" : "warn"} role="status">${state === "live" ? "following" : state === "connecting" ? "connecting" : state === "off" ? "off" : "trying again"}</span>`}>
    ${loading ? html`<${Skeleton} lines=${6} />` : runs.length === 0 ? html`<${Empty} title="Nothing yet"><p>Runs appear here the moment they end.</p><//>` : html`<ol class="feed" aria-label="Latest runs">
      ${runs.slice(0, FEED).map((run) => html`<li key=${run.id}><a href=${`#/runs/${run.id}`}>
        <span class="row between"><${RouteBadge} route=${run.route} plain /><span class="faint small"><${Ago} at=${run.updatedAt ?? run.startedAt} /></span></span>
        <span class="row between small soft"><span class="truncate">${run.agent ?? "anonymous"} · ${run.model ?? words(run.kind)}</span><span>${run.status !== "completed" ? html`<span class="bad">${words(run.status)}</span>` : run.savedUsd > 0 ? html`<span class="good">saved ${usd(run.savedUsd)}</span>` : usd(run.costUsd)} · ${duration(run.latencyMs)}</span></span></a></li>`)}</ol>
      <div class="more"><a class="link" href="#/runs?live=on">All runs</a></div>`}<//>`;
}

function Welcome() {
  const example = `curl ${location.origin}/v1/chat/completions \\\n  -H "authorization: Bearer $PUNK_KEY" -H "content-type: application/json" \\\n  -d '{"model":"gpt-4o","temperature":0,"messages":[{"role":"user","content":"Where is my parcel?"}]}'`;
  return html`<${Card}><${Empty} title="Nothing has been asked yet" actions=${html`<a class="button primary" href="#/keys?new=on">Make a key</a><a class="button" href="#/playground">Ask something here</a>`}>
    <p>Point an agent at this address, or send one request by hand. It appears here the moment it ends.</p><pre class="code wrap">${example}</pre><//><//>`;
}
