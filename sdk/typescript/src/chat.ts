/** Asking a model, on OpenAI's wire: what goes in, what comes out, and the names for Chorus. */

import type { Answer } from "./http.js";

/** A message of a conversation. Members that are not named here (`tool_calls`, `tool_call_id`, …) pass as they are. */
export interface ChatMessage {
  role: string;
  /** Text; or null beside tool calls, or parts such as pictures. */
  content: string | null | ReadonlyArray<Record<string, unknown>>;
  [member: string]: unknown;
}

/**
 * A request, as OpenAI's chat completions take it. What is not named here (`tools`, `max_tokens`, `seed`, …) passes as it
 * is; `stream` is always false.
 */
export interface ChatParams extends ChorusControls {
  model: string;
  messages: ReadonlyArray<ChatMessage>;
  temperature?: number;
  response_format?: unknown;
  [member: string]: unknown;
}

/** What a request to Chorus may say beside the conversation. */
export interface ChorusControls {
  budget_limit_usd?: number;
  latency_mode?: "fast" | "balanced" | "deep" | "maximum_quality" | (string & {});
  quality_mode?: "economy" | "balanced" | "frontier_optional" | "maximum_quality" | (string & {});
  receipt_mode?: "off" | "summary" | "full" | (string & {});
  research_mode?: string;
  policy_profile?: string;
  /** Whatever the caller wants to find again, such as `requestId`. */
  chorus?: Record<string, unknown>;
}

/** An answer. */
export interface ChatResult {
  /** `choices[0].message.content`; empty if absent. */
  content: string;
  /** The run that records it, from `x-punk-run-id`; empty if absent. */
  runId: string;
  /** Who answered, from `x-punk-route`; `live` if absent. */
  route: string;
  /** The whole answer, in OpenAI's shape. */
  raw: any;
}

/** The model that Chorus is asked by. */
export const PUNK_CHORUS_MODEL = "punk/chorus";

/** The request, with Chorus as its model. */
export function punkChorusChat<T extends Omit<ChatParams, "model">>(params: T): T & { model: typeof PUNK_CHORUS_MODEL } {
  return { ...params, model: PUNK_CHORUS_MODEL };
}

/** What the SDK tells of an answer. */
export function chatResult({ body: raw, headers }: Answer<unknown>): ChatResult {
  const content = (raw as { choices?: Array<{ message?: { content?: unknown } }> } | null)?.choices?.[0]?.message?.content;
  return {
    content: typeof content === "string" ? content : "",
    runId: headers.get("x-punk-run-id") ?? "",
    route: headers.get("x-punk-route") ?? "live",
    raw,
  };
}
