/**
 * The client: one identity (application, agent, subject) at one gateway. It keeps no state; make one for each identity.
 *
 * Whatever asks the gateway for something throws when it does not get it; what only helps (the tool cache, the tracing of
 * tools) never does.
 */
import { type ChatParams, type ChatResult, chatResult } from "./chat.js";
import { segment, Transport } from "./http.js";
import { type ToolDefinition, type TracedTool, traceTool } from "./tool.js";
import type {
  Artifact,
  ArtifactDetail,
  CacheStats,
  EvidencePacket,
  IngestOptions,
  LearningReport,
  MemoryInfluence,
  Pattern,
  RunDetail,
  SavingsSummary,
  ToolCacheHit,
  TraceEventType,
} from "./types.js";

/** Where the gateway is, and who asks. */
export interface PunkOptions {
  /** The address of the gateway; `http://localhost:4100` when left out. */
  baseUrl?: string | undefined;
  /** Sent as `Authorization: Bearer …` with every request. Only needed where the gateway asks for keys. */
  apiKey?: string | undefined;
  /** Sent as `X-Punk-App` on chat; `default-app` when left out. */
  app?: string | undefined;
  /** Sent as `X-Punk-Agent` on chat. */
  agent?: string | undefined;
  /** A pseudonymous end user: sent as `X-Punk-Subject` on chat, and as `subject` to the tool cache. */
  subject?: string | undefined;
}

/** What is said on the side must not hold a tool up for longer. */
const PATIENCE_MS = 5_000;
/** For how long the result of a tool is kept when nobody says, and the longest that the gateway keeps one. */
const DEFAULT_TTL_SECONDS = 300;
const MOST_TTL_SECONDS = 86_400;

export class Punk {
  readonly baseUrl: string;
  readonly app: string;
  readonly agent: string | undefined;
  readonly subject: string | undefined;
  /** What had a part in a run, and how far it is trusted. */
  readonly memory: {
    /** Declares that memory or context had a part in a run. */
    recordInfluence(runId: string, influence: MemoryInfluence): Promise<void>;
  };
  readonly #transport: Transport;

  constructor(opts: PunkOptions = {}) {
    this.baseUrl = (opts.baseUrl ?? "http://localhost:4100").replace(/\/+$/, "");
    this.app = opts.app ?? "default-app";
    this.agent = opts.agent;
    this.subject = opts.subject;
    for (const name of ["apiKey", "app", "agent", "subject"] as const) sendable(name, opts[name]);
    this.#transport = new Transport(this.baseUrl, opts.apiKey);
    this.memory = {
      recordInfluence: async (runId, { source, trustLane, contentHash }) => {
        await this.#post(`/api/v1/runs/${segment("runId", runId)}/memory`, { source, trustLane, contentHash });
      },
    };
  }

  /** Asks a model. The answer comes whole; for streams, point any OpenAI client at the gateway. */
  async chat(params: ChatParams): Promise<ChatResult> {
    const headers: Record<string, string> = {};
    if (this.app) headers["X-Punk-App"] = this.app;
    if (this.agent) headers["X-Punk-Agent"] = this.agent;
    if (this.subject) headers["X-Punk-Subject"] = this.subject;
    const body = { ...params, stream: false };
    return chatResult(await this.#transport.request({ method: "POST", path: "/v1/chat/completions", headers, body }));
  }

  /** The tool, watched: what it does is recorded in its run, and what only reads is not asked twice. */
  traceTool<TArgs, TResult>(def: ToolDefinition<TArgs, TResult>): TracedTool<TArgs, TResult> {
    return traceTool(
      {
        check: (toolName, args) => this.toolCacheCheck(toolName, args),
        store: (toolName, args, result, ttlSeconds) => this.toolCacheStore(toolName, args, result, ttlSeconds),
        tell: (runId, type, payload) => swallowed(() => this.#trace(runId, type, payload, PATIENCE_MS)),
      },
      def,
    );
  }

  /** Adds an event to a run. */
  async trace(runId: string, type: TraceEventType | (string & {}), payload: Record<string, unknown>): Promise<void> {
    await this.#trace(runId, type, payload);
  }

  /** Says whether an answer was good (1) or bad (-1), and what it should have been. */
  async feedback(runId: string, rating: 1 | -1, correction?: string): Promise<void> {
    await this.#post(`/api/v1/runs/${segment("runId", runId)}/feedback`, { type: "rating", rating, correction });
  }

  /** What runs cost, and what the cheaper routes saved. */
  async savings(): Promise<SavingsSummary> {
    return this.#get("/api/v1/savings");
  }

  /** The work that repeats, newest first. */
  async patterns(): Promise<Pattern[]> {
    return this.#list("/api/v1/patterns", "patterns");
  }

  /** What was learned from it, newest first. */
  async artifacts(): Promise<Artifact[]> {
    return this.#list("/api/v1/artifacts", "artifacts");
  }

  /** One artifact with its evidence and the pattern that it was made of. */
  async artifactDetail(id: string): Promise<ArtifactDetail> {
    return this.#get(`/api/v1/artifacts/${segment("id", id)}`);
  }

  /** One run: why it was answered so, everything that happened in it, and its side effects. */
  async runDetail(id: string): Promise<RunDetail> {
    return this.#get(`/api/v1/runs/${segment("id", id)}`);
  }

  /** The proof of a run, for whoever wants to check it elsewhere. */
  async evidencePacket(runId: string): Promise<EvidencePacket> {
    return this.#get(`/api/v1/runs/${segment("runId", runId)}/evidence-packet`);
  }

  /** How much is kept, and how often it served, for each tier. */
  async cacheStats(): Promise<CacheStats> {
    return this.#get("/api/v1/cache/stats");
  }

  /** Has the gateway learn now what is new, instead of at its next tick. */
  async learningTick(): Promise<LearningReport> {
    return this.#post("/api/v1/learning/tick");
  }

  /** Lets an artifact serve. Refused while one of its gates is not passed. */
  async promoteArtifact(id: string): Promise<Artifact> {
    const { artifact } = await this.#post<{ artifact: Artifact }>(`/api/v1/artifacts/${segment("id", id)}/promote`);
    return artifact;
  }

  /** Records a prompt that was answered elsewhere, as a run that is over. */
  async ingestPrompt(source: string, prompt: string, opts: IngestOptions = {}): Promise<{ runId: string }> {
    const { sessionId, metadata } = opts;
    const { runId } = await this.#post<{ runId: string }>("/api/v1/ingest/prompt", { source, prompt, sessionId, metadata });
    return { runId };
  }

  /** What a tool gave when it was last asked the same. Never throws: whatever fails is a miss. */
  async toolCacheCheck(toolName: string, args: unknown): Promise<ToolCacheHit> {
    const body = { toolName, subject: this.#subject(), args: json(args) };
    const kept = await swallowed(() => this.#post<ToolCacheHit>("/api/v1/tool-cache/check", body, PATIENCE_MS));
    return kept?.hit === true ? { hit: true, result: kept.result } : { hit: false };
  }

  /** Keeps what a tool gave: for five minutes, or as long as is said, a day at most. Never throws: what is not kept is asked again. */
  async toolCacheStore(toolName: string, args: unknown, result: unknown, ttlSeconds?: number): Promise<void> {
    // The gateway counts whole seconds, and refuses more than it would keep.
    const seconds = Math.min(Math.ceil(ttlSeconds ?? DEFAULT_TTL_SECONDS), MOST_TTL_SECONDS);
    const body = { toolName, subject: this.#subject(), args: json(args), result, ttlSeconds: seconds };
    await swallowed(() => this.#post("/api/v1/tool-cache/store", body, PATIENCE_MS));
  }

  async #get<T>(path: string): Promise<T> {
    return (await this.#transport.request<T>({ method: "GET", path })).body;
  }

  async #post<T>(path: string, body?: unknown, timeoutMs?: number): Promise<T> {
    const call = { method: "POST" as const, path, body, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    return (await this.#transport.request<T>(call)).body;
  }

  async #trace(runId: string, type: string, payload: Record<string, unknown>, timeoutMs?: number): Promise<void> {
    await this.#post("/api/v1/trace", { runId, type, payload }, timeoutMs);
  }

  /** Everything in a list that comes in pages. */
  async #list<T>(path: string, member: string): Promise<T[]> {
    const all: T[] = [];
    const seen = new Set<string>();
    for (let query = ""; ; ) {
      const page = await this.#get<Record<string, unknown>>(path + query);
      all.push(...((page[member] as T[] | undefined) ?? []));
      const { next } = page;
      // A page that leads back would have us go round for ever.
      if (typeof next !== "string" || seen.has(next)) return all;
      seen.add(next);
      query = `?limit=200&before=${encodeURIComponent(next)}`;
    }
  }

  #subject(): string | undefined {
    return this.subject || undefined;
  }
}

/** JSON has no word for `undefined`; a tool without arguments has `null` ones. */
function json(args: unknown): unknown {
  return args === undefined ? null : args;
}

/** Does what only helps: what goes wrong with it is nobody's concern. */
async function swallowed<T>(attempt: () => Promise<T>): Promise<T | undefined> {
  try {
    return await attempt();
  } catch {
    return undefined;
  }
}

/** What goes into a header has to fit into one; `fetch` would say so late, and without the name of the option. */
function sendable(name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "string" || /[^\x20-\x7e]/.test(value)) {
    throw new TypeError(`${name} must be a text of visible ASCII characters, because it is sent in a header`);
  }
}
