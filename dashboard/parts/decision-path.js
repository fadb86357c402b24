// Why a run was answered the way it was, as the path that was gone: what the governor said, which routes passed and why,
// and the one that answered.
import { html } from "../view.js";
import { duration, usd, words } from "../format.js";
import { RouteBadge, RunLink, Status } from "./bits.js";

/** @typedef {import("../types/api").Run} Run */

/** @param {import("../types/api").Verdict | null | undefined} verdict */
export function ruleOf(verdict) {
  if (!verdict) return "";
  if (verdict.rule !== null && verdict.rule !== undefined) return `${verdict.policy}, rule ${verdict.rule}`;
  // Of a policy's own name, no rule means what it says otherwise; names with a colon are other voices.
  return verdict.policy.includes(":") || verdict.policy === "built-in" ? verdict.policy : `${verdict.policy}, where no rule of it applies`;
}

/** @param {{ run: Run }} props */
export function DecisionPath({ run }) {
  const why = run.routeExplanation;
  if (!why) return html`<p class="soft">${run.finished ? "This run was not routed: it records something that happened elsewhere, or a decision of an operator." : "The run has not ended yet. Its explanation is written when it does."}</p>`;
  return html`<ol class="path">
    <li data-tone=${why.verdict.effect === "allow" ? "good" : why.verdict.effect === "deny" ? "bad" : "warn"}>
      <h3>Governor <${Status} status=${why.verdict.effect} /></h3><p>by ${ruleOf(why.verdict)}${run.gatewayMode === "observe" ? "; this key only observes, so it is recorded and not carried out" : ""}</p></li>
    ${why.rejected.map((passed) => html`<li key=${passed.route} class="passed" data-route=${passed.route}><h3>${words(passed.route)} <span class="faint">passed</span></h3><p class="wrap-anywhere">${passed.reason}</p></li>`)}
    <li class="chosen" data-route=${why.route}><h3><${RouteBadge} route=${why.route} /> <span class="faint">answered</span></h3><p class="wrap-anywhere">${why.reason}</p><${Details} why=${why} /></li>
    <li data-tone=${run.status === "completed" ? "good" : "bad"}><h3>${words(run.status)}</h3>
      <p>${run.costUsd === null ? "no known price" : usd(run.costUsd)}${run.savedUsd > 0 ? html`, <span class="good">${usd(run.savedUsd)} saved</span>` : ""}, ${duration(run.latencyMs)}${run.errorCode ? html`, <code>${run.errorCode}</code>` : ""}</p></li>
  </ol>`;
}

/** @param {{ why: import("../types/api").RouteExplanation }} props */
function Details({ why }) {
  const lines = [
    why.cache && html`The answer of ${html`<${RunLink} run=${why.cache.sourceRun} />`}, ${duration(why.cache.ageSeconds * 1000)} old.`,
    why.artifact && html`Version ${why.artifact.version} of <a class="link" href=${`#/artifacts/${why.artifact.artifactId}`}>its artifact</a>, learned from <a class="link" href=${`#/patterns/${why.artifact.patternId}`}>this pattern</a>.`,
    why.fallback && html`The first choice did not answer; <strong>${why.fallback}</strong> did.`,
    why.ghost && html`Had the key not been one that only observes, <strong>${words(why.ghost.route)}</strong> would have answered${why.ghost.savedUsd ? ` and saved ${usd(why.ghost.savedUsd)}` : ""}: ${why.ghost.reason}`,
    why.leftOut && why.leftOut.length > 0 && html`Not told to the upstream, which has no word for it: ${why.leftOut.join(", ")}.`,
  ].filter(Boolean);
  return lines.length > 0 ? html`<ul class="path-notes">${lines.map((line) => html`<li class="wrap-anywhere">${line}</li>`)}</ul>` : null;
}
