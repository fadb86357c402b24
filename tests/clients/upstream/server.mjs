// A faithful stand-in for the vendors' APIs: `node server.mjs [port]`, then it says where it listens.
//
// It shares nothing with Punk on purpose: what both sides of a conversation believe in error would be believed by all.
// It is as strict as the vendors are, since a wrong translation must fail here and not in production. What it does is
// said by the request's last user message (`scenario.mjs`); what it saw is told at `/_seen`, and which callers hung up
// before the end at `/_cancelled`; `POST /_reset` forgets both.
//
// The same API stands under several prefixes: `/openai` (chat and responses), `/compat` (an OpenAI-like vendor that has
// chat alone and shows its thoughts), `/anthropic`; without a prefix, all of them.

import http from "node:http";

import { Bad } from "./bad.mjs";
import * as chat from "./chat.mjs";
import * as messages from "./messages.mjs";
import { id } from "./pieces.mjs";
import * as responses from "./responses.mjs";
import { Refusal, plan, reset } from "./scenario.mjs";

export const OPENAI_KEY = "sk-upstream-openai";
export const ANTHROPIC_KEY = "sk-ant-upstream";

const seen = [];
const cancelled = [];

const ROUTES = [
  ["POST", /^(|\/openai|\/compat)\/v1\/chat\/completions$/, "openai", converse(chat)],
  ["POST", /^(|\/openai)\/v1\/responses$/, "openai", converse(responses)],
  ["POST", /^(|\/openai|\/compat)\/v1\/embeddings$/, "openai", embeddings],
  ["POST", /^(|\/anthropic)\/v1\/messages$/, "anthropic", converse(messages)],
  ["POST", /^(|\/anthropic)\/v1\/messages\/count_tokens$/, "anthropic", countTokens],
  ["GET", /^(|\/openai|\/compat|\/anthropic)\/v1\/models$/, "either", listModels],
];

const server = http.createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => handle(request, response, Buffer.concat(parts).toString()));
});

async function handle(request, response, text) {
  const url = new URL(request.url, "http://upstream");
  if (url.pathname.startsWith("/_")) return control(request.method, url.pathname, response);
  const record = { method: request.method, path: url.pathname, headers: request.headers, body: text, at: Date.now() };
  seen.push(record);
  response.on("close", () => {
    if (!response.writableFinished && !response.hungUp) {
      cancelled.push({ path: url.pathname, body: text, at: Date.now(), after: Date.now() - record.at });
    }
  });
  const route = ROUTES.find(([method, path]) => method === request.method && path.test(url.pathname));
  const anthropic = route ? vendorOf(route, request) === "anthropic" : url.pathname.includes("/messages");
  const wire = anthropic ? messages : chat;
  const call = { request, response, wire, anthropic, compat: url.pathname.startsWith("/compat"), url };
  try {
    if (!route) throw new Bad(`Invalid URL (${request.method} ${url.pathname})`, { status: 404 });
    authenticate(request.headers, anthropic);
    call.body = request.method === "POST" ? parse(text) : undefined;
    if (call.body?.model?.startsWith("no-such-model")) {
      const message = anthropic ? `model: ${call.body.model}` : `The model \`${call.body.model}\` does not exist or you do not have access to it.`;
      throw new Bad(message, { status: 404, code: "model_not_found" });
    }
    await route[3](call);
  } catch (error) {
    if (error instanceof Bad) refuse(call, error.status, error);
    else if (error instanceof Refusal) refuse(call, 400, { message: error.message });
    else {
      console.error(error);
      refuse(call, 599, { message: `the stand-in itself failed: ${error.stack}` });
    }
  }
}

function vendorOf([, , vendor], request) {
  if (vendor !== "either") return vendor;
  return "x-api-key" in request.headers || "anthropic-version" in request.headers ? "anthropic" : "openai";
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Bad("We could not parse the JSON body of your request.");
  }
}

function authenticate(headers, anthropic) {
  if (!anthropic) {
    if (headers.authorization === `Bearer ${OPENAI_KEY}`) return;
    const message = `Incorrect API key provided: ${headers.authorization ?? "none"}.`;
    throw new Bad(message, { status: 401, code: "invalid_api_key" });
  }
  // Its clients have sent the key in one header and in the other; the vendor takes both.
  const key = headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");
  if (key !== ANTHROPIC_KEY) throw new Bad("invalid x-api-key", { status: 401 });
  if (!headers["anthropic-version"]) throw new Bad("anthropic-version: header is required");
}

/** The status and shape of a vendor's refusal, with the headers that its clients look at. */
function refuse({ response, wire, anthropic }, status, { message, param, code }) {
  const type = { 401: "invalid_request_error", 429: "requests", 500: "server_error", 503: "server_error" }[status];
  const body = wire.errorBody({ message, param, code, status, type });
  const headers = { "content-type": "application/json", ...requestId(anthropic) };
  // Longer than any gateway would wait by itself, so that it must be handed on.
  if (status === 429) headers["retry-after"] = "30";
  response.writeHead(status, headers).end(JSON.stringify(body));
}

const requestId = (anthropic) => (anthropic ? { "request-id": id("req_011") } : { "x-request-id": id("req_") });

function json({ response, anthropic }, body) {
  response.writeHead(200, { "content-type": "application/json", ...requestId(anthropic) }).end(JSON.stringify(body));
}

/** The handler of one of the three ways to converse. */
function converse(wire) {
  return async (call) => {
    const { body, response, compat, anthropic } = call;
    const ask = wire.read(body);
    const happening = plan(ask);
    const { fault } = happening;
    const detail = wire === responses ? ask : compat;
    if (fault?.kind === "status") {
      const status = fault.status === 529 && !anthropic ? 503 : fault.status;
      const code = status === 429 ? "rate_limit_exceeded" : null;
      return refuse(call, status, { message: `This is failure ${status}, as asked for.`, code });
    }
    if (fault?.kind === "silent") await pause(fault.ms, response);
    if (!body.stream) {
      await pause(fault?.kind === "stall" ? fault.ms : (happening.pace ?? 0) * 5, response);
      if (fault?.kind === "cut") return hangUp(response);
      if (fault?.kind === "midway") return refuse(call, anthropic ? 529 : 503, { message: "Overloaded" });
      return json(call, wire.answer(body, happening, detail));
    }
    const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", ...requestId(anthropic) };
    response.writeHead(200, headers);
    await stream(response, wire.frames(body, happening, detail), happening);
    if (fault?.kind === "cut") return hangUp(response);
    response.end();
  };
}

async function stream(response, frames, { fault, split, pace }) {
  const stall = fault?.kind === "stall" ? Math.floor(frames.length / 2) : -1;
  for (const [index, frame] of frames.entries()) {
    if (response.destroyed) return;
    if (index === stall) await pause(fault.ms, response);
    if (pace) await pause(pace, response);
    if (!split) response.write(frame);
    else await writeInPieces(response, Buffer.from(frame), split);
  }
  // What was written must have left before a stream is cut, or the cut would be seen too early.
  await pause(fault?.kind === "cut" ? 20 : 0, response);
}

/** Bytes in small pieces of their own packets: lines, fields and letters are cut anywhere. */
async function writeInPieces(response, bytes, size) {
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    await new Promise(setImmediate);
  }
}

function hangUp(response) {
  response.hungUp = true;
  response.destroy();
}

/** Waits, but not for a caller that is gone. */
function pause(ms, response) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    response.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function embeddings(call) {
  const { model, input, encoding_format: format = "float", dimensions = 8 } = call.body;
  if (input === undefined) throw new Bad("Missing required parameter: 'input'.", { param: "input" });
  const texts = Array.isArray(input) && typeof input[0] !== "number" ? input : [input];
  const data = texts.map((text, index) => ({ object: "embedding", index, embedding: vector(text, dimensions, format) }));
  const tokens = texts.length * 5;
  json(call, { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

function vector(text, dimensions, format) {
  const seed = [...String(text)].reduce((sum, letter) => sum + letter.codePointAt(0), 0);
  // Exact in 32 bits, so that both encodings mean the same numbers.
  const numbers = Float32Array.from({ length: dimensions }, (_, index) => ((seed * (index + 1)) % 64) / 64);
  return format === "base64" ? Buffer.from(numbers.buffer).toString("base64") : Array.from(numbers);
}

function countTokens(call) {
  messages.read(call.body, true);
  json(call, messages.count(call.body));
}

function listModels(call) {
  const names = call.anthropic ? ["claude-sonnet-5", "claude-haiku-4-5"] : ["gpt-4.1-mini", "text-embedding-3-small"];
  if (!call.anthropic) {
    return json(call, { object: "list", data: names.map((id) => ({ id, object: "model", created: 1_760_000_000, owned_by: "openai" })) });
  }
  const data = names.map((id) => ({ type: "model", id, display_name: id, created_at: "2025-09-29T00:00:00Z", lifecycle: "active" }));
  json(call, { data, has_more: false, first_id: names[0], last_id: names.at(-1) });
}

function control(method, path, response) {
  const answers = { "GET /_seen": () => seen, "GET /_cancelled": () => cancelled, "POST /_reset": forget };
  const answer = answers[`${method} ${path}`];
  response.writeHead(answer ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(answer?.() ?? null));
}

function forget() {
  seen.length = 0;
  cancelled.length = 0;
  reset();
}

// A client that hung up must not end the stand-in.
server.on("clientError", (_, socket) => socket.destroy());
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  console.log(`Upstream listens on http://127.0.0.1:${server.address().port}`);
});
