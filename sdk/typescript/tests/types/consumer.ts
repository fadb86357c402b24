// A program that uses everything, as TypeScript sees it. It is compiled and never run: what must not compile says so.
import {
  Punk,
  PunkError,
  PUNK_CHORUS_MODEL,
  punkChorusChat,
  type Artifact,
  type ArtifactDetail,
  type CacheStats,
  type ChatParams,
  type ChatResult,
  type EvidencePacket,
  type LearningReport,
  type Pattern,
  type PunkOptions,
  type Run,
  type RunDetail,
  type SavingsSummary,
  type SideEffectLevel,
  type SideEffectRecord,
  type ToolDefinition,
  type TraceEvent,
  type TraceEventType,
  type TracedTool,
} from "@punk/sdk";

const options: PunkOptions = { baseUrl: "http://localhost:4100", apiKey: "k", app: "a", agent: "b", subject: "c" };
const punk: Punk = new Punk(options);
new Punk();
// @ts-expect-error the API key is private
punk.apiKey;
// @ts-expect-error what is readable is not writable
punk.app = "another";

export async function chat(): Promise<string> {
  const params: ChatParams = { model: "gpt-4o", messages: [{ role: "user", content: "Hi" }], temperature: 0, response_format: {} };
  const { content, runId, route, raw }: ChatResult = await punk.chat(params);
  await punk.chat({ ...params, tools: [], max_tokens: 7 });
  // @ts-expect-error a model is needed
  await punk.chat({ messages: [] });
  const chorus: { model: "punk/chorus" } = punkChorusChat({
    messages: [{ role: "user", content: "Build a source-backed answer with a receipt." }],
    budget_limit_usd: 0.25,
    latency_mode: "balanced",
    quality_mode: "maximum_quality",
    receipt_mode: "full",
    research_mode: "som",
    chorus: { requestId: "req_123" },
  });
  const model: "punk/chorus" = PUNK_CHORUS_MODEL;
  return content + runId + route + raw.choices[0].message.content + chorus.model + model;
}

export async function tools(): Promise<number> {
  const level: SideEffectLevel = 1;
  const definition: ToolDefinition<{ id: string }, { total: number }> = {
    name: "orders",
    sideEffectLevel: level,
    ttlSeconds: 60,
    execute: ({ id }) => ({ total: id.length }),
  };
  const orders: TracedTool<{ id: string }, { total: number }> = punk.traceTool(definition);
  // @ts-expect-error there are five levels
  punk.traceTool({ name: "x", sideEffectLevel: 5, execute: () => 1 });
  // @ts-expect-error the tool wants an id
  await orders({});
  const type: TraceEventType = "tool.called";
  await punk.trace("run_1", type, { name: "x" });
  await punk.trace("run_1", "anything.else", {});
  const kept: { hit: boolean; result?: unknown } = await punk.toolCacheCheck("orders", {});
  await punk.toolCacheStore("orders", {}, kept.result);
  await punk.toolCacheStore("orders", {}, kept.result, 60);
  return (await orders({ id: "7" }, { runId: "run_1" })).total;
}

export async function reading(): Promise<unknown> {
  const savings: SavingsSummary = await punk.savings();
  const patterns: Pattern[] = await punk.patterns();
  const artifacts: Artifact[] = await punk.artifacts();
  const { artifact, evaluations, pattern }: ArtifactDetail = await punk.artifactDetail("art_1");
  const detail: RunDetail = await punk.runDetail("run_1");
  const [run, events, effects]: [Run, TraceEvent[], SideEffectRecord[]] = [detail.run, detail.events, detail.sideEffects];
  const packet: EvidencePacket = await punk.evidencePacket("run_1");
  const stats: Array<{ cacheType: string; entries: number; hits: number }> = ((await punk.cacheStats()) satisfies CacheStats).stats;
  const numbers: number[] = [savings.totalSavedUsd, savings.cacheHitRate, savings.ghostSavedUsd, artifact.confidence, pattern?.stabilityScore ?? 0];
  return [patterns[0]?.state, artifacts, evaluations[0]?.agreed, run.routeExplanation?.rejected, events[0]?.hash, effects[0]?.status, packet.events, stats, numbers];
}

export async function saying(): Promise<void> {
  const nothing: void = await punk.feedback("run_1", 1);
  await punk.feedback("run_1", -1, "Better so.");
  // @ts-expect-error good or bad, and nothing in between
  await punk.feedback("run_1", 0);
  await punk.memory.recordInfluence("run_1", { source: "web:example.com", trustLane: "untrusted" });
  await punk.memory.recordInfluence("run_1", { source: "handbook", trustLane: "human_approved", contentHash: "00" });
  // @ts-expect-error no such lane
  await punk.memory.recordInfluence("run_1", { source: "x", trustLane: "sure" });
  const { runId }: { runId: string } = await punk.ingestPrompt("claude-code", "Fix it", { sessionId: "s", metadata: { project: "p" } });
  const report: LearningReport = await punk.learningTick();
  const ids: string[] = [...report.promotionsEligible, ...report.autoPromoted, runId];
  const more: unknown = report["anythingElse"];
  const promoted: Artifact = await punk.promoteArtifact(ids[0] ?? "");
  return void [nothing, more, promoted];
}

export function why(error: unknown): number {
  return error instanceof PunkError ? error.status : 0;
}
