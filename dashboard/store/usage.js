// What the overview adds up: sums of days, and what the latest runs look like.
//
// The gateway gives sums for a range of days; a chart over days asks for each. Days that are over do not change any
// more, so they are asked for once while the page is open.
import { get } from "../api.js";
import { quantile } from "../format.js";
import { scope } from "./session.js";

/** @typedef {import("../types/api").SavingsSummary} Sums */
/** @typedef {import("../types/api").Run} Run */

/** @type {Map<string, Sums>} */
const finished = new Map();
scope.listen(() => finished.clear());

/** The last days as `2026-11-15`, oldest first. @param {number} number @param {number} [now] */
export function lastDays(number, now = Date.now()) {
  return Array.from({ length: number }, (_, i) => new Date(now - (number - 1 - i) * 86_400_000).toISOString().slice(0, 10));
}

/** @param {string} day @param {boolean} isOver @param {AbortSignal} signal @returns {Promise<Sums>} */
async function sumsOf(day, isOver, signal) {
  const known = finished.get(day);
  if (known) return known;
  const sums = await get("/api/v1/savings", { from: day, to: day }, signal);
  if (isOver) finished.set(day, sums);
  return sums;
}

/** All of those days together. @param {number} number @param {AbortSignal} signal @returns {Promise<Sums>} */
export function readTotal(number, signal) {
  const days = lastDays(number);
  return get("/api/v1/savings", { from: days[0], to: days[days.length - 1] }, signal);
}

/** Each of them. @param {number} number @param {AbortSignal} signal @returns {Promise<{ days: string[], sums: Sums[] }>} */
export async function readDays(number, signal) {
  const days = lastDays(number);
  return { days, sums: await Promise.all(days.map((day, i) => sumsOf(day, i < days.length - 1, signal))) };
}

/** The latest runs that asked for something, newest first. @param {AbortSignal} signal @returns {Promise<Run[]>} */
export async function readLatest(signal) {
  const first = await get("/api/v1/runs", { limit: 200 }, signal);
  const second = first.next ? await get("/api/v1/runs", { limit: 200, before: first.next }, signal) : { runs: [] };
  return [...first.runs, ...second.runs].filter((/** @type {Run} */ run) => run.route);
}

/** How a day's runs were answered. @param {Sums} sums */
export function mixOf(sums) {
  const answered = sums.liveRuns + sums.optimizedRuns;
  const artifact = Math.round(sums.artifactHitRate * answered);
  return { live: sums.liveRuns, artifact, cache: Math.max(0, sums.optimizedRuns - artifact), blocked: sums.blockedRuns, failed: sums.failedRuns };
}

/** Runs in equal steps of time, by route. @param {Run[]} runs newest first @param {number} steps */
export function buckets(runs, steps) {
  if (runs.length === 0) return { times: [], byRoute: new Map() };
  const last = Date.parse(runs[0].startedAt);
  const oldest = Date.parse(runs[runs.length - 1].startedAt);
  // Steps of a second at least, and always as many: runs of one moment are a bar at the end of a quiet time.
  const step = Math.max(1000, Math.ceil((last - oldest + 1) / steps));
  const number = steps;
  const first = last - (steps - 1) * step;
  const times = Array.from({ length: number }, (_, i) => (first + i * step) / 1000);
  /** @type {Map<string, number[]>} */
  const byRoute = new Map();
  for (const run of runs) {
    const route = run.route ?? "none";
    if (!byRoute.has(route)) byRoute.set(route, new Array(number).fill(0));
    /** @type {number[]} */ (byRoute.get(route))[Math.max(0, Math.ceil((Date.parse(run.startedAt) - first) / step))]++;
  }
  return { times, byRoute };
}

/** How long answers took, by route, the most frequent route first. @param {Run[]} runs */
export function latencies(runs) {
  /** @type {Map<string, number[]>} */
  const byRoute = new Map();
  for (const run of runs) {
    if (run.latencyMs === null || !run.route) continue;
    if (!byRoute.has(run.route)) byRoute.set(run.route, []);
    /** @type {number[]} */ (byRoute.get(run.route)).push(run.latencyMs);
  }
  return [...byRoute].map(([route, values]) => {
    const sorted = values.sort((a, b) => a - b);
    return { route, runs: sorted.length, median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), p99: quantile(sorted, 0.99) };
  }).sort((a, b) => b.runs - a.runs);
}
