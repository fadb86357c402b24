// Where the learning of a pattern stands, on the way that all of them go.
import { html } from "../view.js";
import { words } from "../format.js";

export const WAY = ["observed", "candidate", "synthesizing", "replaying", "shadow", "eligible", "promoted"];

/** @type {Record<string, string>} */
export const MEANS = {
  observed: "It was seen; there is too little of it yet.",
  candidate: "It comes often enough, and its answers have one shape.",
  synthesizing: "A program is being made of it.",
  replaying: "The program is tried on recorded runs.",
  shadow: "The program is compared with live, and answers nothing.",
  eligible: "Every gate is passed. Somebody has to say yes.",
  promoted: "The program answers. A share of what it could answer is still compared with live.",
  negative: "Nothing could be made of it. It is tried again when there is more.",
  retired: "Somebody does not want it learned.",
  quarantined: "An answer was corrected. It serves nothing until somebody has looked.",
};

/** @param {{ state: string }} props */
export function Lifecycle({ state }) {
  const at = WAY.indexOf(state);
  return html`<div class="stack tight"><ol class="way" aria-label="State">${WAY.map((step, i) => html`<li key=${step} data-state=${i < at ? "past" : i === at ? "now" : "ahead"} aria-current=${i === at ? "step" : undefined}>${words(step)}</li>`)}
    ${at < 0 && html`<li data-state="aside" aria-current="step">${words(state)}</li>`}</ol><p class="soft">${MEANS[state] ?? ""}</p></div>`;
}
