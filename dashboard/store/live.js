// The feed of events, shared by every page that looks at it: one connection while somebody listens, none otherwise.
//
// It is read with fetch and not with EventSource, which cannot show a key. Whoever comes back names the last event it
// saw, so nothing is lost over a broken connection.
import { address, send } from "../api.js";
import { Cell } from "../view.js";
import { scope } from "./session.js";

/** @typedef {import("../types/api").TraceEvent} TraceEvent */
/** @typedef {import("../types/api").Run} Run */
/** @typedef {{ events: TraceEvent[], runs: Run[] }} Batch */

/** @type {Cell<"off" | "connecting" | "live" | "waiting">} */
export const feedState = new Cell(/** @type {"off" | "connecting" | "live" | "waiting"} */ ("off"));

// What comes within this time is told at once: a busy gateway must not draw the page a thousand times a second.
const GATHER_MS = 200;
const MOST_GATHERED = 400;

/** @type {Set<(batch: Batch) => void>} */
const listeners = new Set();
/** @type {AbortController | null} */
let connection = null;
let lastId = "";
/** @type {TraceEvent[]} */
let gathered = [];
/** @type {ReturnType<typeof setTimeout> | null} */
let timer = null;
/** @type {Map<string, TraceEvent>} */
const begun = new Map();

/** @param {(batch: Batch) => void} listener */
export function follow(listener) {
  listeners.add(listener);
  if (!connection) connect();
  return () => {
    listeners.delete(listener);
    // A page that is left for another page that listens keeps the connection.
    setTimeout(() => { if (listeners.size === 0) disconnect(); }, 500);
  };
}

function disconnect() {
  connection?.abort();
  connection = null;
  lastId = "";
  begun.clear();
  feedState.set("off");
}

// A browser opens some six connections to a host: tabs that nobody looks at must not hold them all. Who comes back is told
// what happened meanwhile, from the last event that was seen.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) { connection?.abort(); connection = null; feedState.set("off"); }
  else if (!connection && listeners.size > 0) connect();
});

scope.listen(() => {
  if (!connection) return;
  disconnect();
  if (listeners.size > 0) connect();
});

async function connect() {
  const own = new AbortController();
  connection = own;
  let wait = 500;
  while (!own.signal.aborted) {
    try {
      feedState.set("connecting");
      const headers = lastId ? { "last-event-id": lastId } : undefined;
      const response = await send("GET", address("/api/v1/events", {}), { headers, signal: own.signal });
      feedState.set("live");
      wait = 500;
      await read(response, own.signal);
    } catch (/** @type {any} */ error) {
      if (own.signal.aborted) return;
      if (error.status === 401 || error.status === 403) { feedState.set("off"); connection = null; return; }
    }
    if (own.signal.aborted) return;
    feedState.set("waiting");
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, 15_000);
  }
}

/** @param {Response} response @param {AbortSignal} signal */
async function read(response, signal) {
  const reader = /** @type {ReadableStream<any>} */ (response.body).pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done || signal.aborted) return;
    rest += value;
    const messages = rest.split("\n\n");
    rest = /** @type {string} */ (messages.pop());
    for (const message of messages) take(message);
  }
}

/** @param {string} message */
function take(message) {
  let data = "";
  for (const line of message.split("\n")) {
    if (line.startsWith("data:")) data += line.slice(5).trimStart();
    else if (line.startsWith("id:")) lastId = line.slice(3).trim();
  }
  if (!data) return;
  gathered.push(JSON.parse(data));
  timer ??= setTimeout(tellAll, GATHER_MS);
}

function tellAll() {
  timer = null;
  const events = gathered;
  gathered = [];
  const runs = [];
  for (const event of events) {
    if (event.type === "run.started") begun.set(event.runId, event);
    if (event.type !== "run.finished") continue;
    runs.push(runOf(begun.get(event.runId), event));
    begun.delete(event.runId);
  }
  if (begun.size > 1000) begun.clear();
  // The newest are what people look at; older ones of the same moment are in the list of runs.
  const batch = { events: events.slice(-MOST_GATHERED), runs: runs.slice(-MOST_GATHERED).reverse() };
  for (const listener of [...listeners]) listener(batch);
}

const text = (/** @type {unknown} */ value) => (typeof value === "string" ? value : null);
const number = (/** @type {unknown} */ value) => (typeof value === "number" ? value : null);
const dollars = (/** @type {unknown} */ value) => (typeof value === "number" ? value / 1e6 : null);

/** The row of a run from how it began and how it ended. @param {TraceEvent | undefined} started @param {TraceEvent} finished @returns {Run} */
export function runOf(started, finished) {
  const from = started?.payload ?? {};
  const to = finished.payload;
  return /** @type {Run} */ ({
    id: finished.runId,
    tenant: finished.tenant,
    kind: text(from.kind), app: text(from.app), agent: text(from.agent), subject: text(from.subject), keyId: text(from.key ?? from.keyId),
    gatewayMode: text(from.gatewayMode), model: text(from.model), provider: text(to.provider),
    status: text(to.status) ?? "completed", route: text(to.route), errorCode: text(to.errorCode),
    usage: { inputTokens: number(to.inputTokens) ?? 0, outputTokens: number(to.outputTokens) ?? 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, estimated: false },
    costUsd: dollars(to.costMicroUsd), savedUsd: dollars(to.savedMicroUsd) ?? 0, ghostSavedUsd: 0,
    latencyMs: number(to.latencyMs), startedAt: started?.at ?? finished.at, updatedAt: finished.at, finished: true, events: finished.seq,
  });
}

