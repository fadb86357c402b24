// OpenAI's responses: what the vendor accepts, what it answers, and the events of its streams.

import { Bad, isObject, onlyKnown } from "./bad.mjs";
import { checkStrict, turn } from "./chat.mjs";
import { describeImage, fragments, half, id, imageFrom, now, words } from "./pieces.mjs";

export { errorBody } from "./chat.mjs";

const FUTURE = "future_openai_";
const FIELDS = (
  "background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model moderation " +
  "parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning " +
  "safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user"
).split(" ");

const unknown = (key) => new Bad(`Unknown parameter: '${key}'.`, { param: key, code: "unknown_parameter" });
const missing = (key) =>
  new Bad(`Missing required parameter: '${key}'.`, { param: key, code: "missing_required_parameter" });
const invalid = (key, value) => new Bad(`Invalid value: '${value}'.`, { param: key, code: "invalid_value" });

/** Answers given so far, for callers that continue from one of them. */
const stored = new Map();

/** Reads a request as the vendor does: what is wrong with it is a `Bad`. */
export function read(body) {
  onlyKnown(body, FIELDS, FUTURE, unknown);
  if (typeof body.model !== "string") throw missing("model");
  if (body.input === undefined) throw missing("input");
  if (body.max_output_tokens != null && body.max_output_tokens < 16) {
    const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${body.max_output_tokens} instead.`;
    throw new Bad(message, { param: "max_output_tokens", code: "integer_below_min_value" });
  }
  const tools = (body.tools ?? []).map(readTool);
  const items = [...earlier(body), ...(typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input)];
  const { turns, system } = readItems(items);
  return {
    system: [body.instructions, ...system].filter(Boolean).join("\n"),
    turns,
    tools,
    choice: readChoice(body.tool_choice, tools),
    parallel: body.parallel_tool_calls !== false,
    format: readFormat(body.text?.format),
    thinking: Boolean(body.reasoning) && body.reasoning.effort !== "none",
    stop: [],
    items,
  };
}

function earlier({ previous_response_id: previous }) {
  if (!previous) return [];
  const items = stored.get(previous);
  if (items) return items;
  const message = `Previous response with id '${previous}' not found.`;
  throw new Bad(message, { param: "previous_response_id", code: "previous_response_not_found" });
}

function readTool(tool, index) {
  const at = `tools[${index}]`;
  if (tool.type !== "function") throw invalid(`${at}.type`, tool.type);
  onlyKnown(tool, ["type", "name", "description", "parameters", "strict", "defer_loading"], FUTURE, (key) => unknown(`${at}.${key}`));
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name ?? "")) throw missing(`${at}.name`);
  if (tool.parameters != null && !isObject(tool.parameters)) throw invalid(`${at}.parameters`, tool.parameters);
  if (tool.strict) checkStrict(tool.name, tool.parameters ?? {}, `${at}.parameters`);
  return { name: tool.name, schema: tool.parameters ?? { type: "object" } };
}

function readChoice(choice, tools) {
  if (choice === undefined || choice === null || choice === "auto") return { kind: "auto" };
  if (choice === "none" || choice === "required") return { kind: choice };
  if (choice.type !== "function" || !tools.some((tool) => tool.name === choice.name)) {
    throw new Bad(`Tool choice '${choice.name ?? choice.type}' not found in 'tools' parameter.`, { param: "tool_choice" });
  }
  return { kind: "tool", name: choice.name };
}

function readFormat(format) {
  if (!format || format.type === "text") return undefined;
  if (format.type === "json_object") return null;
  if (format.type !== "json_schema") throw invalid("text.format.type", format.type);
  if (!format.name) throw missing("text.format.name");
  if (!isObject(format.schema)) throw missing("text.format.schema");
  if (format.strict) checkStrict(format.name, format.schema, "text.format.schema");
  return format.schema;
}

/** Items as turns: what tools gave is one turn of the user, what the model called or said is one of the assistant. */
function readItems(items) {
  const [turns, system] = [[], []];
  const open = new Set();
  const last = (role) => {
    if (turns.at(-1)?.role !== role) turns.push(turn(role, {}));
    return turns.at(-1);
  };
  items.forEach((item, index) => {
    const at = `input[${index}]`;
    switch (item.type ?? "message") {
      case "message": {
        const { text, images } = readContent(item, `${at}.content`);
        if (item.role === "system" || item.role === "developer") system.push(text);
        else if (item.role === "user") turns.push(turn("user", { text, images }));
        else if (item.role === "assistant") last("assistant").text += text;
        else throw invalid(`${at}.role`, item.role);
        break;
      }
      case "function_call":
        if (!item.call_id) throw missing(`${at}.call_id`);
        if (item.id && !item.id.startsWith("fc")) throw invalid(`${at}.id`, item.id);
        if (typeof item.arguments !== "string") throw missing(`${at}.arguments`);
        open.add(item.call_id);
        last("assistant").calls.push({ id: item.call_id, name: item.name });
        break;
      case "function_call_output": {
        if (!open.delete(item.call_id)) {
          throw new Bad(`No tool call found for function call output with call_id ${item.call_id}.`, { param: "input" });
        }
        const { text } = readContent({ role: "user", content: item.output }, `${at}.output`);
        const results = turns.at(-1)?.results.length ? turns.at(-1) : (turns.push(turn("user", {})), turns.at(-1));
        results.results.push({ id: item.call_id, text });
        break;
      }
      case "reasoning":
        if (item.id && !item.id.startsWith("rs_")) throw invalid(`${at}.id`, item.id);
        if (!Array.isArray(item.summary)) throw missing(`${at}.summary`);
        break;
      case "item_reference":
        break;
      default:
        throw invalid(`${at}.type`, item.type);
    }
  });
  if (open.size) throw new Bad(`No tool output found for function call ${[...open][0]}.`, { param: "input" });
  if (!turns.length) throw new Bad("Invalid 'input': nothing was said.", { param: "input" });
  return { turns, system };
}

function readContent({ role, content }, at) {
  if (typeof content === "string") return { text: content, images: [] };
  if (!Array.isArray(content)) throw missing(at);
  const allowed = role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image", "input_file"];
  const images = [];
  const text = content.map((part, index) => {
    if (!allowed.includes(part.type)) throw invalid(`${at}[${index}].type`, part.type);
    if (part.type === "input_image") images.push(describeImage(imageFrom(part.image_url)));
    return part.text ?? "";
  });
  return { text: text.join(""), images };
}

const usageOf = ({ input, cached, output, reasoning = 0 }) => ({
  input_tokens: input + cached,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + cached + output,
});

function frame(body, status) {
  return {
    id: id("resp_", 48),
    object: "response",
    created_at: now(),
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    model: `${body.model}-2026-01-01`,
    output: [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    safety_identifier: null,
    service_tier: "default",
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: body.text?.format ?? { type: "text" }, verbosity: "medium" },
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_logprobs: 0,
    top_p: body.top_p ?? 1,
    truncation: "disabled",
    usage: null,
    user: null,
    metadata: body.metadata ?? {},
  };
}

function ending(plan) {
  if (plan.stop === "length") return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
  if (plan.stop === "refusal") return { status: "incomplete", incomplete_details: { reason: "content_filter" } };
  return { status: "completed", completed_at: now() };
}

function item(body, { text, thinking, call }, plan) {
  const status = ending(plan).status;
  if (call) {
    return { id: id("fc_", 48), type: "function_call", status, arguments: JSON.stringify(call.input), call_id: id("call_"), name: call.name };
  }
  if (thinking) {
    const summary = body.reasoning?.summary ? [{ type: "summary_text", text: thinking }] : [];
    const sealed = body.include?.includes("reasoning.encrypted_content") ? { encrypted_content: id("gAAAA", 40) } : {};
    return { id: id("rs_", 48), type: "reasoning", summary, ...sealed };
  }
  const content = [{ type: "output_text", annotations: [], logprobs: [], text }];
  return { id: id("msg_", 48), type: "message", status, content, role: "assistant" };
}

function keep(body, ask, response) {
  if (body.store !== false) stored.set(response.id, [...ask.items, ...response.output]);
  return response;
}

/** The answer in one piece. */
export function answer(body, plan, ask) {
  const output = plan.pieces.map((piece) => item(body, piece, plan));
  return keep(body, ask, { ...frame(body, "completed"), ...ending(plan), output, usage: usageOf(plan.usage) });
}

/** The events of the answer; of one that breaks midway, those before the break. */
export function frames(body, plan, ask) {
  const response = frame(body, "in_progress");
  const list = [];
  const emit = (type, fields) => {
    const data = { type, sequence_number: list.length, ...fields };
    list.push(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  emit("response.created", { response });
  emit("response.in_progress", { response });
  const output = plan.pieces.map((piece, output_index) => {
    const whole = item(body, piece, plan);
    emit("response.output_item.added", { output_index, item: begun(whole) });
    emitParts(emit, whole, output_index);
    emit("response.output_item.done", { output_index, item: whole });
    return whole;
  });
  if (plan.fault?.kind === "cut") return half(list);
  if (plan.fault?.kind === "midway") {
    list.splice(half(list).length);
    const error = { code: "server_error", message: "The server had an error while processing your request." };
    emit("error", { ...error, param: null });
    emit("response.failed", { response: { ...response, status: "failed", error } });
    return list;
  }
  const end = keep(body, ask, { ...response, ...ending(plan), output, usage: usageOf(plan.usage) });
  emit(end.status === "completed" ? "response.completed" : "response.incomplete", { response: end });
  return list;
}

function begun(item) {
  switch (item.type) {
    case "function_call":
      return { ...item, status: "in_progress", arguments: "" };
    case "reasoning":
      return { ...item, summary: [] };
    default:
      return { ...item, status: "in_progress", content: [] };
  }
}

function emitParts(emit, item, output_index) {
  const at = { item_id: item.id, output_index };
  if (item.type === "function_call") {
    for (const delta of fragments(item.arguments)) emit("response.function_call_arguments.delta", { ...at, delta });
    emit("response.function_call_arguments.done", { ...at, arguments: item.arguments });
  } else if (item.type === "reasoning") {
    item.summary.forEach((part, summary_index) => {
      const here = { ...at, summary_index };
      emit("response.reasoning_summary_part.added", { ...here, part: { type: "summary_text", text: "" } });
      for (const delta of words(part.text)) emit("response.reasoning_summary_text.delta", { ...here, delta });
      emit("response.reasoning_summary_text.done", { ...here, text: part.text });
      emit("response.reasoning_summary_part.done", { ...here, part });
    });
  } else {
    item.content.forEach((part, content_index) => {
      const here = { ...at, content_index };
      emit("response.content_part.added", { ...here, part: { ...part, text: "" } });
      for (const delta of words(part.text)) emit("response.output_text.delta", { ...here, delta, logprobs: [] });
      emit("response.output_text.done", { ...here, text: part.text, logprobs: [] });
      emit("response.content_part.done", { ...here, part });
    });
  }
}
