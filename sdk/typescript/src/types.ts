/**
 * The shapes of what the gateway takes and gives, under the names that programs use.
 *
 * They come from the gateway's own description (`generated/openapi.ts`); only what it leaves open is written out here.
 */
import type { components } from "./generated/openapi.js";

type Schemas = components["schemas"];

export type Run = Schemas["Run"];
export type RouteExplanation = Schemas["RouteExplanation"];
export type Verdict = Schemas["Verdict"];
export type TraceEvent = Schemas["TraceEvent"];
/** A side effect of a run: planned, executed, suppressed or blocked. */
export type SideEffectRecord = Schemas["SideEffect"];
/** A run, everything that happened in it, and what it did to the world. */
export type RunDetail = Schemas["RunDetail"];
export type SavingsSummary = Schemas["SavingsSummary"];
export type Pattern = Schemas["Pattern"];
export type Artifact = Schemas["Artifact"];
export type ArtifactEvaluation = Schemas["ArtifactEvaluation"];
export type ArtifactDetail = Schemas["ArtifactDetail"];
export type PromotionGateStatus = Schemas["PromotionGateStatus"];
/** What is kept, a line for each tier. */
export type CacheStats = Schemas["CacheReport"];
/** What a pass of the learner came to. */
export type LearningReport = Schemas["LearningReport"] & { [key: string]: unknown };
/** How far something is trusted that had a part in a run. */
export type TrustLane = Schemas["TrustLane"];

/** How much a tool changes: 0 nothing, 1 reads, 2 what can be undone, 3 what people see, 4 what cannot be taken back. */
export type SideEffectLevel = 0 | 1 | 2 | 3 | 4;

/** Types of events that the SDK itself writes, or that everybody may. The gateway takes others too. */
export type TraceEventType = "tool.called" | "tool.completed" | "side_effect.planned" | "side_effect.executed";

/** Something that had a part in a run. */
export interface MemoryInfluence {
  /** Where it comes from, such as `web:example.com`. */
  source: string;
  trustLane: TrustLane;
  /** The SHA-256 of what it said, as 64 hexadecimal digits. */
  contentHash?: string;
}

/** What is known of a prompt that was answered elsewhere. */
export interface IngestOptions {
  /** The conversation that it belongs to. */
  sessionId?: string;
  metadata?: Record<string, unknown>;
}

/** What a tool gave before, if it did. */
export interface ToolCacheHit {
  hit: boolean;
  result?: unknown;
}

/** A value of an event: shown with the salt of its digest, or kept back. */
export type EvidenceField = { salt: string; value: unknown } | { withheld: string };

/**
 * The proof of a run, which `punk verify` checks without a network. Its format is `punk.evidence/1`; it is valid in one
 * spelling only, which `canonicalJson` writes.
 */
export interface EvidencePacket {
  format: string;
  tenant: string;
  /** The run in one row, with its route explanation. */
  run: Record<string, unknown>;
  /** Every event, in order, chained by its hashes. */
  events: Array<{ seq: number; at: string; type: string; hash: string; payload: Record<string, EvidenceField> }>;
  sideEffects: Array<Record<string, unknown>>;
  audit: Array<Record<string, unknown>>;
  /** Where in the log the run is, with proofs that it is there. */
  leaves: Array<{ head: string; proof: string; seq: number }>;
  /** The policies that decided, by digest. */
  policies: Record<string, string>;
  /** The learned programs that answered, by digest: with them the answer can be made again. */
  artifacts: Record<string, string>;
  /** What whoever exported it signed. */
  statement: string;
}
