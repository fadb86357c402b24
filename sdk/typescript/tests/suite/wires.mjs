// What exactly is sent: held against a server that notes what it gets and answers as it is told.
import { same, thrown } from "./check.mjs";

/** A client of a server that notes everything, and what it has noted. */
async function noted({ Punk }, { broken }, how, options = {}) {
  const place = `${broken}/${how}/${Math.random().toString(36).slice(2)}`;
  const seen = async () => (await fetch(`${place}/_seen`)).json();
  return { punk: new Punk({ baseUrl: place, ...options }), seen };
}

const identity = { apiKey: "pk_live_k", app: "desk", agent: "triage", subject: "user-7" };
const MESSAGES = [{ role: "user", content: "Hi" }];

export default [
  {
    name: "chat sends the identity in its headers, and the request with stream false",
    async run(sdk, world) {
      const { punk, seen } = await noted(sdk, world, "empty", identity);
      same(await punk.chat({ model: "m", messages: MESSAGES, temperature: 0.5, stream: true, seed: 7 }), { content: "", runId: "", route: "live", raw: {} });
      const [{ method, path, headers, body }] = await seen();
      same([method, path], ["POST", "/v1/chat/completions"]);
      same(
        [headers.authorization, headers["x-punk-app"], headers["x-punk-agent"], headers["x-punk-subject"], headers["content-type"]],
        ["Bearer pk_live_k", "desk", "triage", "user-7", "application/json"],
      );
      same(body, { model: "m", messages: MESSAGES, temperature: 0.5, stream: false, seed: 7 });
    },
  },
  {
    name: "without an identity chat sends the default application and nothing else",
    async run(sdk, world) {
      const { punk, seen } = await noted(sdk, world, "empty");
      await punk.chat({ model: "m", messages: MESSAGES });
      const [{ headers }] = await seen();
      const own = Object.entries(headers).filter(([name]) => name.startsWith("x-punk-") || name === "authorization");
      same(own, [["x-punk-app", "default-app"]]);
    },
  },
  {
    name: "every request has the key, and only chat the identity",
    async run(sdk, world) {
      const { punk, seen } = await noted(sdk, world, "empty", identity);
      const run = "run_1";
      await Promise.all([
        punk.trace(run, "t", {}), punk.feedback(run, 1), punk.savings(), punk.patterns(), punk.artifacts(), punk.artifactDetail("a"), punk.runDetail(run),
        punk.evidencePacket(run), punk.cacheStats(), punk.learningTick(), punk.promoteArtifact("a"), punk.ingestPrompt("s", "p"),
        punk.toolCacheCheck("t", {}), punk.toolCacheStore("t", {}, 1, 1), punk.memory.recordInfluence(run, { source: "s", trustLane: "verified" }),
      ]);
      const all = await seen();
      same(all.length, 15);
      for (const { path, headers } of all) {
        same(headers.authorization, "Bearer pk_live_k", path);
        same(Object.keys(headers).filter((name) => name.startsWith("x-punk-")), [], path);
      }
    },
  },
  {
    name: "the other calls send what their endpoints take",
    async run(sdk, world) {
      const { punk, seen } = await noted(sdk, world, "empty", { subject: "user-7" });
      await punk.trace("run_1", "tool.called", { name: "x" });
      await punk.feedback("run_1", -1, "Better so.");
      await punk.feedback("run_1", 1);
      await punk.memory.recordInfluence("run_1", { source: "web:a", trustLane: "untrusted" });
      await punk.ingestPrompt("claude-code", "Fix it", { sessionId: "s", metadata: { project: "p" } });
      await punk.toolCacheCheck("orders", { id: 7 });
      await punk.toolCacheStore("orders", { id: 7 }, ["r"], 60);
      await punk.learningTick();
      await punk.promoteArtifact("art_1");
      same((await seen()).map(({ method, path, body }) => [method, path, body]), [
        ["POST", "/api/v1/trace", { runId: "run_1", type: "tool.called", payload: { name: "x" } }],
        ["POST", "/api/v1/runs/run_1/feedback", { type: "rating", rating: -1, correction: "Better so." }],
        ["POST", "/api/v1/runs/run_1/feedback", { type: "rating", rating: 1 }],
        ["POST", "/api/v1/runs/run_1/memory", { source: "web:a", trustLane: "untrusted" }],
        ["POST", "/api/v1/ingest/prompt", { source: "claude-code", prompt: "Fix it", sessionId: "s", metadata: { project: "p" } }],
        ["POST", "/api/v1/tool-cache/check", { toolName: "orders", subject: "user-7", args: { id: 7 } }],
        ["POST", "/api/v1/tool-cache/store", { toolName: "orders", subject: "user-7", args: { id: 7 }, result: ["r"], ttlSeconds: 60 }],
        ["POST", "/api/v1/learning/tick", null],
        ["POST", "/api/v1/artifacts/art_1/promote", null],
      ]);
    },
  },
  {
    name: "a cacheable tool asks the cache, tells, executes, tells, stores",
    async run(sdk, world) {
      const { punk, seen } = await noted(sdk, world, "empty");
      const tool = punk.traceTool({ name: "look", sideEffectLevel: 1, ttlSeconds: 60, execute: () => fetch(`${punk.baseUrl}/executed`).then(() => 7) });
      await tool({ id: 1 }, { runId: "run_1" });
      same((await seen()).map(({ path, body }) => [path, body?.type ?? null]), [
        ["/api/v1/tool-cache/check", null],
        ["/api/v1/trace", "tool.called"],
        ["/executed", null],
        ["/api/v1/trace", "tool.completed"],
        ["/api/v1/tool-cache/store", null],
      ]);
    },
  },
  {
    name: "lists that are absent are empty, and lists in pages are read to the end",
    async run(sdk, world) {
      const { punk } = await noted(sdk, world, "empty");
      same([await punk.patterns(), await punk.artifacts()], [[], []]);
      const { punk: paged, seen } = await noted(sdk, world, "pages");
      same((await paged.patterns()).map(({ id }) => id), ["pat_1", "pat_2", "pat_3"]);
      same((await paged.artifacts()).map(({ id }) => id), ["art_1", "art_2", "art_3"]);
      same((await seen()).map(({ path }) => path), [
        "/api/v1/patterns", "/api/v1/patterns?limit=200&before=pat_2", "/api/v1/artifacts", "/api/v1/artifacts?limit=200&before=art_2",
      ]);
    },
  },
  {
    name: "nothing is tried twice",
    async run(sdk, world) {
      const { punk, seen } = await noted(sdk, world, "refuse-503");
      await thrown(() => punk.savings());
      await punk.toolCacheStore("orders", {}, 1, 60);
      same((await seen()).length, 2);
    },
  },
];
