/**
 * `@punk/sdk`: the client of the Punk gateway. Start at {@link Punk}.
 *
 * No dependencies, and nothing but `fetch` of the platform: Node 18 and later, Bun, Deno, browsers.
 */
export { Punk, type PunkOptions } from "./client.js";
export { canonicalJson } from "./canonical.js";
export { PunkError } from "./http.js";
export {
  type ChatMessage,
  type ChatParams,
  type ChatResult,
  type ChorusControls,
  PUNK_CHORUS_MODEL,
  punkChorusChat,
} from "./chat.js";
export type { ToolDefinition, TracedTool } from "./tool.js";
export type * from "./types.js";
