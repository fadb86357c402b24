// What the vendor's model does: decided by the last thing the user said, in the same words on every wire.
//
// `plan` takes a conversation in no vendor's shape (an "ask", which a wire reads from its request) and gives what
// happens: the pieces of the answer, why it stops, the tokens, and what goes wrong on the way. It is pure; the wires
// render it and `server.mjs` makes it happen.
//
// An ask: {system, turns: [{role, text, images, calls, results}], tools: [{name, schema}],
//          choice: {kind: "auto"|"none"|"required"|"tool", name}, parallel, format, thinking, stop: []}
//
// To add a scenario: a row in `SCENARIOS`.

import { instance } from "./schema.mjs";

/** A request that the vendor would refuse, for a reason that every vendor shares. */
export class Refusal extends Error {}

export const HELLO = "Hello from upstream: grüß dich, 你好 👋 \"quoted\" \\ done.";
export const THOUGHT = "First I weigh the question. Then I decide.";
export const LONG = "This goes on and on and on and on until the limit";

const SCENARIOS = [
  [/^say hello/i, () => text(HELLO)],
  [/^repeat the system prompt/i, (ask) => text(`The system prompt is: ${ask.system}`)],
  [/^count the turns/i, (ask) => text(`The turns are: ${ask.turns.map((turn) => turn.role).join(" ")}`)],
  [/^repeat my first message/i, (ask) => text(`It was: ${ask.turns[0].text}`)],
  [/^look at the image/i, (ask) => text(`I see ${ask.turns.at(-1).images.join(" and ") || "no image"}`)],
  [/^use get_weather for (\w+) and (\w+)/i, (ask, [, one, two]) => calls(ask, weather(one), weather(two))],
  [/^use get_weather for (\w+)/i, (ask, [, city]) => calls(ask, weather(city))],
  [/^talk, then use get_weather for (\w+)/i, (ask, [, city]) => calls(ask, weather(city), "Let me look. ")],
  [/^use get_time/i, (ask) => calls(ask, { name: "get_time", input: {} })],
  [/^return json/i, json],
  [/^think first/i, (ask) => ({ pieces: [...thought(ask), { text: "After thought: 42." }] })],
  [/^think, then use get_weather for (\w+)/i, thenCall],
  [/^write a lot/i, () => ({ ...text(LONG), stop: "length" })],
  [/^stop at (\S+)/i, stopAt],
  [/^do something bad/i, () => ({ ...text("I cannot help with that."), stop: "refusal" })],
  [/^use the prompt cache/i, () => ({ ...text("Cached."), usage: { input: 20, cached: 100, output: 7 } })],
  [/^count to (\d+)/i, (_, [, n]) => text(Array.from({ length: Number(n) }, (_, i) => i + 1).join(" "))],
  [/^split oddly/i, () => ({ ...text(HELLO), split: 5 })],
  [/^pause between frames/i, () => ({ ...text("One two three four five."), pace: 60 })],
  [/^fail (\d{3}) once, then say hello/i, (_, [, status], said) => failing(Number(status), said)],
  [/^fail (\d{3})/i, (_, [, status]) => ({ fault: { kind: "status", status: Number(status) } })],
  [/^be silent/i, () => ({ ...text("At last."), fault: { kind: "silent", ms: 20_000 } })],
  [/^be slow/i, () => ({ ...text("Slowly, very slowly."), fault: { kind: "stall", ms: 20_000 } })],
  [/^cut the stream/i, () => ({ ...text("This is cut in the middle"), fault: { kind: "cut" } })],
  [/^overloaded midway/i, () => ({ ...text("This breaks in the middle"), fault: { kind: "midway" } })],
];

/** What the model does with `ask`. */
export function plan(ask) {
  const last = ask.turns.at(-1);
  const plan = afterTools(last) ?? forced(ask) ?? scripted(ask, last.text.trim());
  const pieces = plan.pieces ?? [];
  const called = pieces.some((piece) => piece.call);
  return {
    pieces,
    stop: called ? "tool" : "end",
    usage: { input: 20 + ask.turns.length, cached: 0, output: 9, ...thinkingTokens(pieces) },
    ...plan,
  };
}

function scripted(ask, said) {
  for (const [pattern, act] of SCENARIOS) {
    const match = pattern.exec(said);
    if (match) return act(ask, match, said);
  }
  return text(`You said: ${said}`);
}

/** The final answer quotes what the tools gave, so that a result lost on the way is seen. */
function afterTools(last) {
  if (!last.results.length) return undefined;
  return text(`The tools said: ${last.results.map((result) => result.text).join(" | ")}`);
}

/** A caller that forces a tool gets it called, with arguments that fit. */
function forced(ask) {
  const { kind, name } = ask.choice;
  if (kind !== "tool" && kind !== "required") return undefined;
  const tool = kind === "tool" ? ask.tools.find((tool) => tool.name === name) : ask.tools[0];
  if (!tool) throw new Refusal(`Tool '${name}' not found in provided tools`);
  const city = /for (\w+)/.exec(ask.turns.at(-1).text)?.[1];
  const input = tool.name === "get_weather" && city ? weather(city).input : instance(tool.schema);
  return { pieces: [{ call: { name: tool.name, input } }] };
}

function text(text) {
  return { pieces: [{ text }] };
}

function weather(city) {
  return { name: "get_weather", input: { city, unit: "celsius" } };
}

function calls(ask, ...pieces) {
  if (ask.choice.kind === "none") return text("I may not use tools.");
  const before = pieces.filter((piece) => typeof piece === "string");
  let calls = pieces.filter((piece) => typeof piece !== "string");
  for (const { name } of calls) {
    if (!ask.tools.some((tool) => tool.name === name)) return text(`I have no tool ${name}`);
  }
  if (!ask.parallel) calls = calls.slice(0, 1);
  return { pieces: [...before.map((text) => ({ text })), ...calls.map((call) => ({ call }))] };
}

function thenCall(ask, [, city]) {
  const plan = calls(ask, weather(city));
  return { pieces: [...thought(ask), ...plan.pieces] };
}

function thought(ask) {
  return ask.thinking ? [{ thinking: THOUGHT }] : [];
}

function thinkingTokens(pieces) {
  return pieces.some((piece) => piece.thinking) ? { output: 30, reasoning: 21 } : {};
}

function json(ask) {
  if (ask.format === null) return text('{"free":"form"}');
  if (ask.format === undefined) return text("Nobody asked for JSON.");
  return text(JSON.stringify(instance(ask.format)));
}

function stopAt(ask, [, word]) {
  const stops = ask.stop.includes(word);
  return { ...text(stops ? "Until here " : `Until here ${word} and past it`), ...(stops && { stop: "sequence", word }) };
}

/** The texts that have failed already. */
const failed = new Set();

function failing(status, said) {
  if (failed.has(said)) return text(HELLO);
  failed.add(said);
  return { fault: { kind: "status", status } };
}

/** Forgets what happened. */
export function reset() {
  failed.clear();
}
