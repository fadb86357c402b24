// The events of a run along its time. What an event carries is folded below it.
import { html } from "../view.js";
import { clock, duration } from "../format.js";
import { Json } from "./json.js";

/** @typedef {import("../types/api").TraceEvent} TraceEvent */

/** @type {Record<string, string>} */
const TONES = { run: "quiet", policy: "accent", model: "good", artifact: "good", side_effect: "warn", tripwire: "bad", memory: "warn", feedback: "accent", audit: "accent", approval: "warn", tool: "good" };

/** One line on what an event says, from what its type usually carries. @param {TraceEvent} event */
function gist({ type, payload }) {
  const say = (/** @type {any[]} */ ...parts) => parts.filter((part) => typeof part === "string" || typeof part === "number").join(" · ");
  switch (type) {
    case "run.started": return say(payload.kind, payload.model, payload.agent);
    case "run.finished": return say(payload.status, payload.route);
    case "policy.decided": return say(payload.action, payload.verdict?.effect, payload.verdict?.policy);
    case "model.completed": return say(payload.provider, payload.model, payload.outputTokens !== undefined ? `${payload.outputTokens} tokens out` : null);
    case "memory.influenced": return say(payload.source, payload.trustLane);
    case "feedback.recorded": return say(payload.rating > 0 ? "good" : "bad", payload.correction);
    default: return say(payload.toolName, payload.name, payload.reason, payload.action, payload.target, payload.label, payload.artifactId);
  }
}

/** @param {{ events: TraceEvent[] }} props */
export function Timeline({ events }) {
  if (events.length === 0) return html`<p class="soft">No events are left of this run: they were given up after the time that they are kept.</p>`;
  const first = Date.parse(events[0].at);
  // Feedback may come days later; the bar shows the run itself, and what came after stands at its end.
  const end = Date.parse(events.find((event) => event.type === "run.finished")?.at ?? events[events.length - 1].at);
  const span = Math.max(1, end - first);
  return html`<ol class="timeline">${events.map((event) => {
    const offset = Date.parse(event.at) - first;
    return html`<li key=${event.seq} data-tone=${TONES[event.type.split(".")[0]] ?? "quiet"}><details>
      <summary><span class="mono faint">${event.seq}</span><span class="timeline-type">${event.type}</span><span class="truncate soft">${gist(event)}</span>
        <span class="timeline-bar" aria-hidden="true"><i style=${{ left: `${Math.min(100, (offset / span) * 100)}%` }} /></span><span class="number faint" title=${clock(event.at)}>+${duration(offset)}</span></summary>
      <div class="timeline-body"><${Json} value=${event.payload} open=${2} /><p class="mono faint small wrap-anywhere">hash ${event.hash}</p></div></details></li>`;
  })}</ol>`;
}
