// The same question to two models, side by side: what each says, by which route, for how much, and how long it took.
import { html, useState } from "../view.js";
import { duration, usd } from "../format.js";
import { RouteBadge, RunLink } from "./bits.js";
import { TextField } from "./form.js";
import { ModelField } from "./model-field.js";
import { Card } from "./page.js";
import { Empty, Failure, Skeleton } from "./states.js";
import { askOnce } from "../store/conversation.js";

/** @param {{ models: string[] }} props */
export function ComparePanel({ models }) {
  const [chosen, setChosen] = useState(/** @type {Array<string | null>} */ ([null, null]));
  const [system, setSystem] = useState("");
  const [content, setContent] = useState("");
  const [answers, setAnswers] = useState(/** @type {any[]} */ ([null, null]));
  const usual = (/** @type {number} */ i) => models[i] || ["gpt-4o", "gpt-4o-mini"][i];
  const names = chosen.map((name, i) => name?.trim() || usual(i));
  const busy = answers.some((answer) => answer?.busy);
  async function ask(/** @type {Event} */ event) {
    event.preventDefault();
    setAnswers([{ busy: true }, { busy: true }]);
    await Promise.all(names.map(async (name, i) => {
      const answer = await askOnce(name, system.trim(), content.trim(), new AbortController().signal).catch((error) => ({ error }));
      setAnswers((before) => before.map((other, j) => (j === i ? answer : other)));
    }));
  }
  return html`<form class="stack" onSubmit=${ask}><${Card} label="Question"><div class="form"><${TextField} label="Instructions" rows=${1} value=${system} onInput=${setSystem} placeholder="Optional" /><${TextField} label="Question" rows=${3} required value=${content} onInput=${setContent} placeholder="Summarise our refund policy in one sentence." /><div><button type="submit" class="button primary" disabled=${busy || !content.trim()}>Ask both</button></div></div><//>
    <div class="columns even">${names.map((name, i) => html`<${Card} key=${i} label=${`Answer ${i + 1}`} title=${html`<${ModelField} label=${`Model ${i + 1}`} value=${chosen[i] ?? name} models=${models} onInput=${(/** @type {string} */ value) => setChosen(chosen.map((other, j) => (j === i ? value : other)))} />`}><${Answer} answer=${answers[i]} /><//>`)}</div></form>`;
}

/** @param {{ answer: any }} props */
function Answer({ answer }) {
  if (!answer) return html`<${Empty} title="No answer yet" />`;
  if (answer.busy) return html`<${Skeleton} lines=${4} label="Answering" />`;
  if (answer.error) return html`<${Failure} error=${answer.error} what="The gateway refused." />`;
  return html`<div class="stack tight"><p class="said">${answer.text}</p><p class="small faint row wrap"><${RouteBadge} route=${answer.route} plain /> ${answer.run?.savedUsd ? html`<span class="good">saved ${usd(answer.run.savedUsd)}</span>` : usd(answer.run?.costUsd)} · ${duration(answer.run?.latencyMs ?? answer.tookMs)} · ${answer.run ? `${answer.run.usage.outputTokens} tokens out` : ""} <${RunLink} run=${answer.runId} /></p></div>`;
}
