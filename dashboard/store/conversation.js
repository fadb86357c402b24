// What the playground says to the gateway: turns of a conversation, and one question to several models.
import { ApiError, call, send } from "../api.js";
import { bearer } from "./session.js";

/**
 * Server-sent events of a response, one by one. @param {Response} response
 * @returns {AsyncGenerator<{ event: string, data: string }>}
 */
export async function* messages(response) {
  const reader = /** @type {ReadableStream<any>} */ (response.body).pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = /** @type {string} */ (blocks.pop());
    for (const block of blocks) {
      let event = "message";
      let data = "";
      for (const line of block.split("\n")) {
        if (line.startsWith("event:")) event = line.slice(6).trim();
        else if (line.startsWith("data:")) data += line.slice(5).trimStart();
      }
      if (data) yield { event, data };
    }
  }
}

/**
 * Says something in a conversation, telling the answer as it comes. Gives the turn as it was kept.
 * @param {string} id @param {string} content @param {string} model @param {(text: string, route: string | null) => void} tellPiece @param {AbortSignal} signal
 */
export async function say(id, content, model, tellPiece, signal) {
  const response = await send("POST", `/api/v1/conversations/${id}/turns`, { body: { content, model, stream: true }, signal });
  const route = response.headers.get("x-punk-route");
  let text = "";
  let turn = null;
  tellPiece(text, route);
  for await (const { event, data } of messages(response)) {
    if (data === "[DONE]") continue;
    const value = JSON.parse(data);
    if (event === "turn") turn = value.turn;
    else if (event === "error" || value.error) throw new ApiError(502, value.error ?? {});
    else { text += value.choices?.[0]?.delta?.content ?? ""; tellPiece(text, route); }
  }
  return turn;
}

/** Asks one model one thing, outside of any conversation. @param {string} model @param {string} system @param {string} content @param {AbortSignal} signal */
export async function askOnce(model, system, content, signal) {
  const key = await bearer();
  const began = performance.now();
  const response = await send("POST", "/v1/chat/completions", { key, signal, headers: { "x-punk-app": "chat" }, body: { model, temperature: 0, messages: [...(system ? [{ role: "system", content: system }] : []), { role: "user", content }] } });
  const answer = await response.json();
  const runId = response.headers.get("x-punk-run-id");
  const { run } = runId ? await call("GET", `/api/v1/runs/${runId}`).catch(() => ({ run: null })) : { run: null };
  return { text: String(answer.choices?.[0]?.message?.content ?? ""), runId, route: response.headers.get("x-punk-route"), run, tookMs: performance.now() - began };
}

/** The names of models that are served. @returns {Promise<string[]>} */
export async function models() {
  const key = await bearer();
  const answer = await call("GET", "/v1/models", { key });
  return answer.data.map((/** @type {any} */ model) => String(model.id));
}
