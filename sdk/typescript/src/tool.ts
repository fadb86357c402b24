/**
 * Tools that are watched: what they are asked and what they give is told to the run they belong to, and what only reads is
 * not asked twice.
 *
 * Telling never breaks the call. A gateway that refuses, is away or is slow costs the trace and not the tool; what the
 * tool itself throws reaches the caller as it is.
 */
import type { SideEffectLevel, ToolCacheHit } from "./types.js";

/** A tool. */
export interface ToolDefinition<TArgs, TResult> {
  name: string;
  /** How much it changes; 3 when left out, because nobody knows. */
  sideEffectLevel?: SideEffectLevel;
  /** For how long a result may serve again, if the tool only reads (level 0 or 1). The gateway keeps none beyond a day. */
  ttlSeconds?: number;
  execute: (args: TArgs) => Promise<TResult> | TResult;
}

/** The same tool, watched. With a `runId` what it does is recorded in that run. */
export type TracedTool<TArgs, TResult> = (args: TArgs, ctx?: { runId?: string }) => Promise<TResult>;

/** What a watched tool needs of the client. None of it ever throws. */
export interface Watcher {
  check(toolName: string, args: unknown): Promise<ToolCacheHit>;
  store(toolName: string, args: unknown, result: unknown, ttlSeconds: number): Promise<void>;
  tell(runId: string, type: string, payload: Record<string, unknown>): Promise<void>;
}

const UNDECLARED: SideEffectLevel = 3;

export function traceTool<TArgs, TResult>(
  watcher: Watcher,
  def: ToolDefinition<TArgs, TResult>,
): TracedTool<TArgs, TResult> {
  const { name } = def;
  const level = def.sideEffectLevel ?? UNDECLARED;
  const ttlSeconds = def.ttlSeconds ?? 0;
  const cacheable = level <= 1 && ttlSeconds > 0;

  return async (args, ctx) => {
    const tell = async (type: string, payload: Record<string, unknown>) => {
      if (ctx?.runId) await watcher.tell(ctx.runId, type, payload);
    };
    if (cacheable) {
      const kept = await watcher.check(name, args);
      if (kept.hit) {
        await tell("tool.completed", { name, result: kept.result, cached: true });
        return kept.result as TResult;
      }
    }
    await tell("tool.called", { name, args, sideEffectLevel: level });
    // Before it happens, so that what the governor says of it is on record whatever comes of it.
    if (level >= 2) await tell("side_effect.planned", { toolName: name, level, payload: args });
    const result = await def.execute(args);
    await tell("tool.completed", { name, result });
    if (cacheable) await watcher.store(name, args, result, ttlSeconds);
    return result;
  };
}
