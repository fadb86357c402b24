// Makes data as agents make it: through the interface.

const COLOURS = ["red", "green", "blue"];
const THINGS = ["door", "lamp", "chair", "table"];

/** Work that comes again and again: the same instructions, other words. */
export function labelling(at) {
  const draw = (at * 2654435761) % 4294967296 >>> 5;
  return {
    model: "gpt-4o",
    messages: [
      { role: "system", content: "Choose one of these labels: red, green, blue. Answer with the label alone." },
      { role: "user", content: `please paint the ${THINGS[Math.floor(draw / 3) % 4]} number ${at} ${COLOURS[draw % 3]} today` },
    ],
  };
}

export const chat = (content, more = {}) => ({ model: "gpt-4o", temperature: 0, messages: [{ role: "user", content }], ...more });

/** Calls that need not wait for each other, a few at a time. */
export async function many(number, work, lanes = 12) {
  let next = 0;
  await Promise.all(Array.from({ length: lanes }, async () => { while (next < number) await work(next++); }));
}

/** Teaches an artifact until every gate is passed; gives its id. */
export async function prove(gateway, headers = {}) {
  let at = 0;
  for (let round = 0; round < 14; round++) {
    const from = at;
    await many(60, async (i) => {
      const { status, text } = await gateway.call("POST", "/v1/chat/completions", labelling(from + i), { "x-punk-agent": "painter", "x-punk-app": "workshop", ...headers });
      if (status !== 200) throw new Error(text);
    });
    at += 60;
    await gateway.call("POST", "/api/v1/learning/tick", undefined, headers);
    const { json } = await gateway.call("GET", "/api/v1/artifacts", undefined, headers);
    const [artifact] = json.artifacts;
    if (artifact?.state === "eligible") return artifact.id;
  }
  throw new Error("the artifact was not proven");
}

/** An action that a policy asks people about; gives the run and the approval. */
export async function askApproval(gateway, payload, headers = {}) {
  const { json: begun } = await gateway.call("POST", "/api/v1/runs", { model: "gpt-4o", metadata: { ticket: "T-17" } }, { "x-punk-agent": "support-bot", ...headers });
  const { json } = await gateway.call("POST", "/api/v1/trace", { runId: begun.runId, type: "side_effect.planned", payload: { toolName: "send_mail", level: 3, payload } }, { "x-punk-agent": "support-bot", ...headers });
  return { runId: begun.runId, approvalId: json.approvalId, verdict: json.verdict };
}

/** What a support desk of one afternoon looks like: live answers, kept answers, failures, a refusal. */
export async function afternoon(gateway, headers = {}) {
  const questions = ["Where is my parcel?", "Can I have a refund?", "Which plan am I on?", "Please cancel my order 1042.", "What are your opening hours?"];
  for (let round = 0; round < 3; round++) {
    for (const [i, question] of questions.entries()) {
      await gateway.call("POST", "/v1/chat/completions", chat(question), { "x-punk-agent": i % 2 ? "support-bot" : "triage", "x-punk-app": "support", ...headers });
    }
  }
  await gateway.call("POST", "/v1/messages", { model: "claude-sonnet-4-5", max_tokens: 100, messages: [{ role: "user", content: "Summarise the last call." }] }, { "x-punk-agent": "summariser", "x-punk-app": "support", ...headers });
  await gateway.call("POST", "/v1/chat/completions", { ...chat("this one fails"), model: "mock-error-500" }, { "x-punk-agent": "triage", "x-punk-app": "support", ...headers });
  await gateway.call("PATCH", "/api/v1/settings", { tools: { send_mail: { level: 3, action: "write:email", egress: true }, drop_table: { level: 4, action: "delete:table" } } }, headers);
}
