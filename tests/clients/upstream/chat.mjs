// OpenAI's chat completions: what the vendor accepts, what it answers, and the frames of its streams.

import { Bad, isObject, onlyKnown } from "./bad.mjs";
import { describeImage, fragments, half, id, imageFrom, now, words } from "./pieces.mjs";
import { notStrict } from "./schema.mjs";

const FUTURE = "future_openai_";
const FIELDS = (
  "messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata " +
  "modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options " +
  "prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options " +
  "temperature tool_choice tools top_logprobs top_p user verbosity web_search_options"
).split(" ");
const MESSAGE = {
  system: ["role", "content", "name"],
  developer: ["role", "content", "name"],
  user: ["role", "content", "name"],
  assistant: ["role", "content", "name", "refusal", "audio", "tool_calls", "function_call", "annotations", "reasoning_content"],
  tool: ["role", "content", "tool_call_id"],
};

const unknown = (key) => new Bad(`Unknown parameter: '${key}'.`, { param: key, code: "unknown_parameter" });
const missing = (key) =>
  new Bad(`Missing required parameter: '${key}'.`, { param: key, code: "missing_required_parameter" });
const wrong = (key, what) => new Bad(`Invalid type for '${key}': expected ${what}.`, { param: key, code: "invalid_type" });

export const errorBody = ({ message, type = "invalid_request_error", param = null, code = null }) => ({
  error: { message, type, param, code },
});

/** Reads a request as the vendor does: what is wrong with it is a `Bad`. */
export function read(body) {
  onlyKnown(body, FIELDS, FUTURE, unknown);
  if (typeof body.model !== "string") throw missing("model");
  if (!Array.isArray(body.messages)) throw missing("messages");
  if (!body.messages.length) throw new Bad("Invalid 'messages': empty array.", { param: "messages", code: "empty_array" });
  if (body.stream_options && !body.stream) {
    throw new Bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.", { param: "stream_options" });
  }
  checkNumbers(body);
  const tools = (body.tools ?? []).map(readTool);
  if (body.tools && !tools.length) throw new Bad("[] is too short - 'tools'", { param: "tools" });
  for (const key of ["tool_choice", "parallel_tool_calls"]) {
    if (key in body && !tools.length) throw new Bad(`'${key}' is only allowed when 'tools' are specified.`, { param: key });
  }
  const turns = readMessages(body.messages);
  return {
    system: systemOf(body.messages),
    turns,
    tools,
    choice: readChoice(body.tool_choice, tools),
    parallel: body.parallel_tool_calls !== false,
    format: readFormat(body),
    thinking: Boolean(body.reasoning_effort) && body.reasoning_effort !== "none",
    stop: [body.stop ?? []].flat(),
  };
}

function checkNumbers(body) {
  for (const [key, least, most] of [
    ["temperature", 0, 2],
    ["top_p", 0, 1],
    ["presence_penalty", -2, 2],
    ["frequency_penalty", -2, 2],
    ["max_tokens", 1, 200_000],
    ["max_completion_tokens", 1, 200_000],
  ]) {
    const value = body[key] ?? least;
    if (typeof value !== "number") throw wrong(key, "a number");
    if (value < least || value > most) {
      throw new Bad(`Invalid '${key}': expected a value between ${least} and ${most}.`, { param: key, code: "invalid_value" });
    }
  }
  const reasons = /^(o\d|gpt-5)/.test(body.model);
  if (reasons && "max_tokens" in body) {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    throw new Bad(message, { param: "max_tokens", code: "unsupported_parameter" });
  }
  if ("stop" in body && [body.stop ?? []].flat().length > 4) {
    throw new Bad("Invalid 'stop': array too long.", { param: "stop", code: "array_above_max_length" });
  }
}

function readTool(tool, index) {
  const at = `tools[${index}]`;
  onlyKnown(tool, ["type", "function"], FUTURE, (key) => unknown(`${at}.${key}`));
  if (tool.type !== "function") throw new Bad(`Invalid value: '${tool.type}'.`, { param: `${at}.type`, code: "invalid_value" });
  if (!isObject(tool.function)) throw missing(`${at}.function`);
  const { name, parameters, strict } = tool.function;
  const fields = ["name", "description", "parameters", "strict"];
  onlyKnown(tool.function, fields, FUTURE, (key) => unknown(`${at}.function.${key}`));
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name ?? "")) throw wrong(`${at}.function.name`, "a string of letters, digits, _ and -");
  if (parameters !== undefined && !isObject(parameters)) throw wrong(`${at}.function.parameters`, "an object");
  if (strict) checkStrict(name, parameters ?? {}, `${at}.function.parameters`);
  return { name, schema: parameters ?? { type: "object" } };
}

export function checkStrict(name, schema, param) {
  const trouble = notStrict(schema);
  if (trouble) throw new Bad(`Invalid schema for '${name}': ${trouble}`, { param, code: "invalid_json_schema" });
}

function readChoice(choice, tools) {
  if (choice === undefined || choice === null || choice === "auto") return { kind: "auto" };
  if (choice === "none" || choice === "required") return { kind: choice };
  const name = choice?.function?.name;
  if (choice?.type !== "function" || !name) throw wrong("tool_choice", "one of none, auto, required, or a function");
  if (!tools.some((tool) => tool.name === name)) {
    throw new Bad(`Invalid value for 'tool_choice': '${name}' is not one of the tools.`, { param: "tool_choice" });
  }
  return { kind: "tool", name };
}

function readFormat({ response_format: format, messages }) {
  if (!format || format.type === "text") return undefined;
  if (format.type === "json_object") {
    if (!/json/i.test(JSON.stringify(messages))) {
      throw new Bad("'messages' must contain the word 'json' in some form.", { param: "messages" });
    }
    return null;
  }
  if (format.type !== "json_schema") throw wrong("response_format.type", "one of text, json_object, json_schema");
  const { name, schema, strict } = format.json_schema ?? {};
  if (!name) throw missing("response_format.json_schema.name");
  if (!isObject(schema)) throw missing("response_format.json_schema.schema");
  if (strict) checkStrict(name, schema, "response_format");
  return schema;
}

function systemOf(messages) {
  const system = messages.filter(({ role }) => role === "system" || role === "developer");
  return system.map(({ content }) => textOf(content)).join("\n");
}

/** The turns without the system's; every tool call must have its results before anything else is said. */
function readMessages(messages) {
  const turns = [];
  let open = [];
  messages.forEach((message, index) => {
    const at = `messages[${index}]`;
    const fields = MESSAGE[message?.role];
    if (!fields) {
      const message_ = `Invalid value: '${message?.role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`;
      throw new Bad(message_, { param: `${at}.role`, code: "invalid_value" });
    }
    onlyKnown(message, fields, FUTURE, (key) => unknown(`${at}.${key}`));
    if (message.role !== "tool" && open.length) throw unanswered(open, at);
    switch (message.role) {
      case "tool": {
        if (!open.includes(message.tool_call_id)) {
          const text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
          throw new Bad(`Invalid parameter: ${text}`, { param: `${at}.role` });
        }
        open = open.filter((call) => call !== message.tool_call_id);
        const result = { id: message.tool_call_id, text: textOf(message.content) };
        const last = turns.at(-1);
        if (last.results.length) last.results.push(result);
        else turns.push(turn("user", { results: [result] }));
        break;
      }
      case "assistant": {
        const calls = (message.tool_calls ?? []).map((call, index) => readCall(call, `${at}.tool_calls[${index}]`));
        if (message.tool_calls && !calls.length) {
          throw new Bad(`Invalid '${at}.tool_calls': empty array.`, { param: `${at}.tool_calls`, code: "empty_array" });
        }
        if (!calls.length && message.content == null && !message.refusal) throw wrong(`${at}.content`, "a string");
        open = calls.map((call) => call.id);
        turns.push(turn("assistant", { text: textOf(message.content ?? ""), calls }));
        break;
      }
      case "user":
        turns.push(turn("user", { text: textOf(message.content, at), images: imagesOf(message.content) }));
        break;
      default:
        textOf(message.content, at);
    }
  });
  if (open.length) throw unanswered(open, `messages[${messages.length - 1}]`);
  if (!turns.length) turns.push(turn("user", { text: systemOf(messages) }));
  return turns;
}

const unanswered = (open, at) =>
  new Bad(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${open.join(", ")}`,
    { param: `${at}.role` },
  );

export function turn(role, { text = "", images = [], calls = [], results = [] }) {
  return { role, text, images, calls, results };
}

function readCall(call, at) {
  if (typeof call.id !== "string" || !call.id) throw missing(`${at}.id`);
  if (call.type !== "function") throw missing(`${at}.type`);
  if (typeof call.function?.arguments !== "string") throw wrong(`${at}.function.arguments`, "a string");
  onlyKnown(call, ["id", "type", "function"], FUTURE, (key) => unknown(`${at}.${key}`));
  return { id: call.id, name: call.function.name };
}

function textOf(content, at = "messages") {
  if (typeof content === "string") return content;
  if (!Array.isArray(content) || !content.length) throw wrong(`${at}.content`, "a string or an array of parts");
  return content
    .map((part, index) => {
      const here = `${at}.content[${index}]`;
      switch (part?.type) {
        case "text":
          onlyKnown(part, ["type", "text"], FUTURE, (key) => unknown(`${here}.${key}`));
          if (typeof part.text !== "string") throw missing(`${here}.text`);
          return part.text;
        case "refusal":
        case "input_audio":
        case "file":
          return "";
        case "image_url":
          if (typeof part.image_url?.url !== "string") throw missing(`${here}.image_url.url`);
          return "";
        default:
          throw new Bad(`Invalid value: '${part?.type}'.`, { param: `${here}.type`, code: "invalid_value" });
      }
    })
    .join("");
}

function imagesOf(content) {
  if (typeof content === "string") return [];
  const images = content.filter((part) => part.type === "image_url");
  return images.map((part) => describeImage(imageFrom(part.image_url.url)));
}

const FINISH = { end: "stop", sequence: "stop", tool: "tool_calls", length: "length", refusal: "content_filter" };

function usageOf({ input, cached, output, reasoning = 0 }) {
  return {
    prompt_tokens: input + cached,
    completion_tokens: output,
    total_tokens: input + cached + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function head(body, object) {
  return {
    id: id("chatcmpl-", 29),
    object,
    created: now(),
    model: `${body.model}-2026-01-01`,
    service_tier: "default",
    system_fingerprint: "fp_44709d6fcb",
  };
}

const toolCall = ({ name, input }) => ({
  id: id("call_"),
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
});

/** The answer in one piece. `thoughts` is whether this vendor shows them, as OpenAI does not and others do. */
export function answer(body, plan, thoughts) {
  const text = plan.pieces.map((piece) => piece.text ?? "").join("");
  const thought = plan.pieces.map((piece) => piece.thinking ?? "").join("");
  const calls = plan.pieces.filter((piece) => piece.call).map((piece) => toolCall(piece.call));
  const message = {
    role: "assistant",
    content: text || null,
    ...(thoughts && thought && { reasoning_content: thought }),
    ...(calls.length && { tool_calls: calls }),
    refusal: null,
    annotations: [],
  };
  const choices = Array.from({ length: body.n ?? 1 }, (_, index) => ({
    index,
    message,
    logprobs: null,
    finish_reason: FINISH[plan.stop],
  }));
  return { ...head(body, "chat.completion"), choices, usage: usageOf(plan.usage) };
}

/** The frames of the answer; of one that breaks midway, those before the break. */
export function frames(body, plan, thoughts) {
  const common = head(body, "chat.completion.chunk");
  const withUsage = body.stream_options?.include_usage === true;
  const chunk = (choices, usage = null) => data({ ...common, choices, ...(withUsage && { usage }) });
  const delta = (delta, finish_reason = null) => chunk([{ index: 0, delta, logprobs: null, finish_reason }]);
  const callsOnly = plan.pieces.every((piece) => piece.call);
  const list = [delta({ role: "assistant", content: callsOnly && plan.pieces.length ? null : "", refusal: null })];
  let index = -1;
  for (const { text, thinking, call } of plan.pieces) {
    if (thinking && thoughts) for (const word of words(thinking)) list.push(delta({ reasoning_content: word }));
    if (text) for (const word of words(text)) list.push(delta({ content: word }));
    if (call) {
      index += 1;
      const { id, type, function: made } = toolCall(call);
      list.push(delta({ tool_calls: [{ index, id, type, function: { name: made.name, arguments: "" } }] }));
      for (const part of fragments(made.arguments)) {
        list.push(delta({ tool_calls: [{ index, function: { arguments: part } }] }));
      }
    }
  }
  if (plan.fault?.kind === "cut") return half(list);
  if (plan.fault?.kind === "midway") return [...half(list), data(errorBody(OVERLOADED))];
  list.push(delta({}, FINISH[plan.stop]));
  if (withUsage) list.push(chunk([], usageOf(plan.usage)));
  return [...list, "data: [DONE]\n\n"];
}

const OVERLOADED = { message: "The server had an error while processing your request.", type: "server_error" };

const data = (value) => `data: ${JSON.stringify(value)}\n\n`;
