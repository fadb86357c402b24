// Anthropic's messages: what the vendor accepts, what it answers, and the events of its streams.

import { Bad, isObject, onlyKnown } from "./bad.mjs";
import { turn } from "./chat.mjs";
import { describeImage, fragments, half, id, words } from "./pieces.mjs";

const FUTURE = "future_anthropic_";
const COUNTED =
  "messages model cache_control mcp_servers output_config output_format speed system thinking tool_choice tools".split(" ");
const FIELDS = [
  ...COUNTED,
  ..."max_tokens container context_management inference_geo metadata service_tier stop_sequences stream temperature top_k top_p".split(
    " ",
  ),
];

const TYPES = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

export const errorBody = ({ message, status = 400 }) => ({
  type: "error",
  error: { type: TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error"), message },
  request_id: id("req_011"),
});

const extra = (at) => new Bad(`${at}: Extra inputs are not permitted`);
const missing = (at) => new Bad(`${at}: Field required`);

/** Seals given so far. A thought comes back with its own seal or not at all. */
const seals = new Map();

/** Reads a request as the vendor does: what is wrong with it is a `Bad`. `counting` is for count_tokens. */
export function read(body, counting = false) {
  onlyKnown(body, counting ? COUNTED : FIELDS, FUTURE, extra);
  if (typeof body.model !== "string") throw missing("model");
  if (!Array.isArray(body.messages)) throw missing("messages");
  if (!body.messages.length) throw new Bad("messages: at least one message is required");
  if (!counting) checkNumbers(body);
  const thinking = ["enabled", "adaptive"].includes(body.thinking?.type);
  const tools = (body.tools ?? []).map(readTool);
  const choice = readChoice(body.tool_choice, tools);
  if (thinking) checkThinking(body, choice, counting);
  const turns = readMessages(body.messages, thinking);
  return {
    system: readSystem(body.system),
    turns,
    tools,
    choice,
    parallel: body.tool_choice?.disable_parallel_tool_use !== true,
    format: readFormat(body),
    thinking,
    stop: body.stop_sequences ?? [],
  };
}

function checkNumbers(body) {
  if (body.max_tokens === undefined) throw missing("max_tokens");
  if (!Number.isInteger(body.max_tokens)) throw new Bad("max_tokens: Input should be a valid integer");
  if (body.max_tokens < 1) throw new Bad("max_tokens: Input should be greater than or equal to 1");
  for (const key of ["temperature", "top_p"]) {
    if (key in body && !(body[key] >= 0)) throw new Bad(`${key}: Input should be greater than or equal to 0`);
    if (key in body && body[key] > 1) throw new Bad(`${key}: Input should be less than or equal to 1`);
  }
  for (const stop of body.stop_sequences ?? []) {
    if (!stop.trim()) throw new Bad("stop_sequences: each stop sequence must contain non-whitespace");
  }
  if (body.metadata) onlyKnown(body.metadata, ["user_id"], FUTURE, (key) => extra(`metadata.${key}`));
}

function checkThinking(body, choice, counting) {
  const { type, budget_tokens: budget } = body.thinking;
  if (type === "enabled") {
    if (!Number.isInteger(budget)) throw missing("thinking.enabled.budget_tokens");
    if (budget < 1024) throw new Bad("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
    if (!counting && budget >= body.max_tokens) throw new Bad("`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  if ("temperature" in body && body.temperature !== 1) {
    throw new Bad("`temperature` may only be set to 1 when thinking is enabled.");
  }
  if (choice.kind === "tool" || choice.kind === "required") {
    throw new Bad("Thinking may not be enabled when tool_choice forces tool use.");
  }
}

function readSystem(system) {
  if (system === undefined) return "";
  if (typeof system === "string") return system;
  if (!Array.isArray(system)) throw new Bad("system: Input should be a valid list");
  return system.map((block, index) => readText(block, `system.${index}`)).join("\n");
}

function readTool(tool, index) {
  const at = `tools.${index}.custom`;
  const fields =
    "name description input_schema cache_control type strict eager_input_streaming defer_loading input_examples allowed_callers";
  onlyKnown(tool, fields.split(" "), FUTURE, (key) => extra(`${at}.${key}`));
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name ?? "")) {
    throw new Bad(`${at}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  }
  if (!isObject(tool.input_schema)) throw missing(`${at}.input_schema`);
  if (tool.input_schema.type !== "object") throw new Bad(`${at}.input_schema.type: Input should be 'object'`);
  return { name: tool.name, schema: tool.input_schema };
}

function readChoice(choice, tools) {
  if (choice === undefined) return { kind: "auto" };
  const kinds = { auto: "auto", none: "none", any: "required", tool: "tool" };
  const kind = kinds[choice?.type];
  if (!kind) throw new Bad("tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'");
  const fields = kind === "none" ? ["type"] : ["type", "disable_parallel_tool_use", ...(kind === "tool" ? ["name"] : [])];
  onlyKnown(choice, fields, FUTURE, (key) => extra(`tool_choice.${choice.type}.${key}`));
  if (!tools.length) throw new Bad("tool_choice may only be specified while providing tools");
  if (kind === "tool" && !tools.some((tool) => tool.name === choice.name)) {
    throw new Bad(`tool_choice: Tool '${choice.name}' not found in provided tools`);
  }
  return { kind, name: choice.name };
}

function readFormat(body) {
  const format = body.output_config?.format ?? body.output_format;
  if (!format) return undefined;
  if (format.type !== "json_schema") throw new Bad("output_config.format.type: Input should be 'json_schema'");
  if (!isObject(format.schema)) throw missing("output_config.format.schema");
  onlyKnown(format, ["type", "schema"], FUTURE, (key) => extra(`output_config.format.${key}`));
  if (format.schema.type === "object" && format.schema.additionalProperties !== false) {
    throw new Bad("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false");
  }
  return format.schema;
}

function readMessages(messages, thinking) {
  const turns = [];
  let open = [];
  messages.forEach((message, index) => {
    const at = `messages.${index}`;
    if (!["user", "assistant"].includes(message?.role)) throw new Bad(`${at}.role: Input should be 'user' or 'assistant'`);
    onlyKnown(message, ["role", "content"], FUTURE, (key) => extra(`${at}.${key}`));
    if (index === 0 && message.role !== "user") throw new Bad("messages: first message must use the \"user\" role");
    const blocks = readBlocks(message.content, at);
    if (!blocks.length && (message.role !== "assistant" || index < messages.length - 1)) {
      throw new Bad(`${at}: all messages must have non-empty content except for the optional final assistant message`);
    }
    const results = blocks.filter((block) => block.result).map((block) => block.result);
    if (open.length) checkAnswered(open, results, blocks, at);
    for (const { id } of results) {
      if (!open.includes(id)) {
        const text = `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
        throw new Bad(`${at}.content: ${text}`);
      }
    }
    const calls = blocks.filter((block) => block.call).map((block) => block.call);
    open = calls.map((call) => call.id);
    if (new Set(open).size < open.length) throw new Bad(`${at}.content: \`tool_use\` ids must be unique`);
    // A turn that was thought through and is still being worked on must come back with its thoughts.
    if (thinking && calls.length && index === messages.length - 2 && !blocks[0].thinking) {
      const text = "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block";
      throw new Bad(`${at}.content.0.type: ${text}`);
    }
    turns.push(
      turn(message.role, {
        text: blocks.map((block) => block.text ?? "").join(""),
        images: blocks.filter((block) => block.image).map((block) => describeImage(block.image)),
        calls,
        results,
      }),
    );
  });
  if (open.length) throw unanswered(open, `messages.${messages.length - 1}`);
  const last = messages.at(-1);
  if (last.role === "assistant" && /\s$/.test(turns.at(-1).text)) {
    throw new Bad("messages: final assistant content cannot end with trailing whitespace");
  }
  return turns;
}

function checkAnswered(open, results, blocks, at) {
  const left = open.filter((id) => !results.some((result) => result.id === id));
  if (left.length) throw unanswered(left, at);
  const late = blocks.findIndex((block) => block.result) > 0;
  if (late) throw new Bad(`${at}.content: \`tool_result\` blocks must come first in the message after a \`tool_use\``);
}

const unanswered = (open, at) =>
  new Bad(
    `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. ` +
      "Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
  );

function readBlocks(content, at) {
  if (typeof content === "string") return content ? [{ text: content }] : [];
  if (!Array.isArray(content)) throw new Bad(`${at}.content: Input should be a valid list`);
  return content.map((block, index) => readBlock(block, `${at}.content.${index}`));
}

function readBlock(block, at) {
  switch (block?.type) {
    case "text":
      return { text: readText(block, at) };
    case "image":
      return { image: readSource(block.source, `${at}.image.source`) };
    case "thinking":
      if (seals.get(block.signature) !== block.thinking) throw new Bad(`${at}: Invalid \`signature\` in \`thinking\` block`);
      return { thinking: block.thinking };
    case "redacted_thinking":
      return { thinking: block.data };
    case "tool_use":
      onlyKnown(block, ["type", "id", "name", "input", "cache_control", "caller"], FUTURE, (key) => extra(`${at}.${key}`));
      if (!/^[a-zA-Z0-9_-]+$/.test(block.id ?? "")) throw new Bad(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      if (!isObject(block.input)) throw new Bad(`${at}.tool_use.input: Input should be a valid dictionary`);
      return { call: { id: block.id, name: block.name } };
    case "tool_result": {
      const fields = ["type", "tool_use_id", "content", "is_error", "cache_control"];
      onlyKnown(block, fields, FUTURE, (key) => extra(`${at}.tool_result.${key}`));
      if (!block.tool_use_id) throw missing(`${at}.tool_result.tool_use_id`);
      const inner = readBlocks(block.content ?? "", `${at}.tool_result`);
      const text = inner.map((part) => part.text ?? describeImage(part.image)).join("");
      return { result: { id: block.tool_use_id, text: block.is_error ? `error: ${text}` : text } };
    }
    case "document":
      return {};
    default:
      throw new Bad(`${at}: Input tag '${block?.type}' found using 'type' does not match any of the expected tags`);
  }
}

function readText(block, at) {
  onlyKnown(block, ["type", "text", "cache_control", "citations"], FUTURE, (key) => extra(`${at}.text.${key}`));
  if (block.type !== "text" || typeof block.text !== "string") throw missing(`${at}.text.text`);
  if (!block.text) throw new Bad("messages: text content blocks must be non-empty");
  return block.text;
}

function readSource(source, at) {
  if (source?.type === "url" && source.url) return { url: source.url };
  if (source?.type !== "base64") throw new Bad(`${at}: Input tag '${source?.type}' does not match 'base64' or 'url'`);
  const kinds = ["image/jpeg", "image/png", "image/gif", "image/webp"];
  if (!kinds.includes(source.media_type)) throw new Bad(`${at}.base64.media_type: Input should be ${kinds.join(", ")}`);
  if (!/^[A-Za-z0-9+/]+=*$/.test(source.data ?? "")) throw new Bad(`${at}.base64.data: Invalid base64`);
  return { mediaType: source.media_type, data: source.data };
}

const STOP = { end: "end_turn", sequence: "stop_sequence", tool: "tool_use", length: "max_tokens", refusal: "refusal" };

const usageOf = ({ input, cached, output }) => ({
  input_tokens: input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: output,
  service_tier: "standard",
});

function block({ text, thinking, call }) {
  if (text) return { type: "text", text };
  if (call) return { type: "tool_use", id: id("toolu_01"), name: call.name, input: call.input };
  const signature = Buffer.from(id("seal", 60)).toString("base64");
  seals.set(signature, thinking);
  return { type: "thinking", thinking, signature };
}

function head(body) {
  return { id: id("msg_01"), type: "message", role: "assistant", model: body.model };
}

const ending = (plan) => ({ stop_reason: STOP[plan.stop], stop_sequence: plan.word ?? null });

/** The answer in one piece. */
export function answer(body, plan) {
  return { ...head(body), content: plan.pieces.map(block), ...ending(plan), usage: usageOf(plan.usage) };
}

/** The answer of count_tokens. */
export function count(body) {
  return { input_tokens: 10 + Math.ceil(JSON.stringify(body.messages).length / 4) };
}

/** The events of the answer; of one that breaks midway, those before the break. */
export function frames(body, plan) {
  const usage = { ...usageOf(plan.usage), output_tokens: 1 };
  const message = { ...head(body), content: [], stop_reason: null, stop_sequence: null, usage };
  const list = [event("message_start", { message })];
  plan.pieces.forEach((piece, index) => {
    const whole = block(piece);
    list.push(event("content_block_start", { index, content_block: empty(whole) }));
    if (index === 0) list.push(event("ping", {}));
    for (const delta of deltas(whole)) list.push(event("content_block_delta", { index, delta }));
    list.push(event("content_block_stop", { index }));
  });
  if (plan.fault?.kind === "cut") return half(list);
  if (plan.fault?.kind === "midway") {
    return [...half(list), event("error", { error: { type: "overloaded_error", message: "Overloaded" } })];
  }
  const { cache_creation, service_tier, ...total } = usageOf(plan.usage);
  list.push(event("message_delta", { delta: ending(plan), usage: total }));
  return [...list, event("message_stop", {})];
}

function empty(block) {
  switch (block.type) {
    case "text":
      return { type: "text", text: "" };
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" };
    default:
      return { ...block, input: {} };
  }
}

function deltas(block) {
  switch (block.type) {
    case "text":
      return words(block.text).map((text) => ({ type: "text_delta", text }));
    case "thinking": {
      const thoughts = words(block.thinking).map((thinking) => ({ type: "thinking_delta", thinking }));
      return [...thoughts, { type: "signature_delta", signature: block.signature }];
    }
    default: {
      // The vendor opens with an empty fragment, and a call without arguments has nothing else.
      const json = Object.keys(block.input).length ? JSON.stringify(block.input) : "";
      return ["", ...fragments(json)].map((partial_json) => ({ type: "input_json_delta", partial_json }));
    }
  }
}

const event = (type, fields) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
