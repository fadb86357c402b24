// What is said about runs, and what can be read of them, at the real gateway.
import { has, ok, same, shaped, thrown } from "./check.mjs";

const NOBODY = "run_00000000000000000000000000";

async function asked(punk, more = {}) {
  const content = `What of ${Date.now()}-${Math.random()}?`;
  return (await punk.chat({ model: "mock-small", messages: [{ role: "user", content }], ...more })).runId;
}

async function payloads(punk, runId, type) {
  return (await punk.runDetail(runId)).events.filter((event) => event.type === type).map((event) => event.payload);
}

export default [
  {
    name: "trace adds an event to a run, and gives nothing",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const runId = await asked(punk);
      same(await punk.trace(runId, "desk.closed", { by: "ada" }), undefined);
      same(await payloads(punk, runId, "desk.closed"), [{ by: "ada" }]);
    },
  },
  {
    name: "trace throws for a run that is not there, and for types of the runtime's own",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      has((await thrown(() => punk.trace(NOBODY, "desk.closed", {}))).message, "Punk API POST /api/v1/trace failed: 404 Not Found");
      const runId = await asked(punk);
      has((await thrown(() => punk.trace(runId, "run.finished", {}))).message, "Punk API POST /api/v1/trace failed: 400 Bad Request");
    },
  },
  {
    name: "feedback is recorded, with and without a correction",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const runId = await asked(punk);
      same(await punk.feedback(runId, 1), undefined);
      await punk.feedback(runId, -1, "It is in Berlin.");
      const given = (await punk.runDetail(runId)).events.filter((event) => event.type.startsWith("feedback."));
      same(given.map(({ payload }) => [payload.rating, payload.correction ?? null]), [[1, null], [-1, "It is in Berlin."]]);
      const error = await thrown(() => punk.feedback(NOBODY, 1));
      has(error.message, `Punk API POST /api/v1/runs/${NOBODY}/feedback failed: 404 Not Found`);
    },
  },
  {
    name: "what had a part in a run is recorded with its lane",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const runId = await asked(punk);
      const contentHash = "ab".repeat(32);
      same(await punk.memory.recordInfluence(runId, { source: "web:example.com", trustLane: "untrusted" }), undefined);
      await punk.memory.recordInfluence(runId, { source: "handbook", trustLane: "human_approved", contentHash });
      const told = await payloads(punk, runId, "memory.influenced");
      same(told.map(({ source, trustLane }) => [source, trustLane]), [["web:example.com", "untrusted"], ["handbook", "human_approved"]]);
      same(told[1].contentHash, contentHash);
      has((await thrown(() => punk.memory.recordInfluence(runId, { source: "x", trustLane: "sure" }))).message, "failed: 400 Bad Request");
    },
  },
  {
    name: "a run tells why it was answered so",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const runId = await asked(punk);
      const { run, events, sideEffects } = await punk.runDetail(runId);
      same([run.id, run.status, run.route], [runId, "completed", "live"]);
      shaped(run.routeExplanation, { route: "string", reason: "string", rejected: "array", verdict: "object" }, "routeExplanation");
      same(run.routeExplanation.verdict.effect, "allow");
      same([events[0].type, events.at(-1).type, sideEffects], ["run.started", "run.finished", []]);
      for (const event of events) shaped(event, { runId: "string", seq: "number", at: "string", type: "string", payload: "object", hash: "string" }, "event");
    },
  },
  {
    name: "an id that would make another address is refused before anything is sent",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      for (const id of ["", ".", "..", undefined]) {
        for (const attempt of [() => punk.runDetail(id), () => punk.feedback(id, 1), () => punk.promoteArtifact(id), () => punk.evidencePacket(id)]) {
          ok((await thrown(attempt)) instanceof TypeError, "it is the caller's mistake");
        }
      }
      has((await thrown(() => punk.runDetail("../savings"))).message, "Punk API GET /api/v1/runs/..%2Fsavings failed: 404");
    },
  },
  {
    name: "a packet has the events, their proof and the run's explanation",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const runId = await asked(punk);
      const packet = await punk.evidencePacket(runId);
      same([packet.format, packet.run.id, packet.run.explanation.route], ["punk.evidence/1", runId, "live"]);
      shaped(packet, { events: "array", leaves: "array", audit: "array", sideEffects: "array", policies: "object", statement: "string" }, "packet");
      same(packet.events[0].type, "run.started");
      ok(packet.leaves.length > 0, "it is in the log");
    },
  },
  {
    name: "savings count the runs, and what the cache saved",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const before = await punk.savings();
      const numbers = ["totalRuns", "liveRuns", "optimizedRuns", "blockedRuns", "totalCostUsd", "totalSavedUsd", "ghostSavedUsd"];
      numbers.push("totalSavedMs", "cacheHitRate", "artifactHitRate", "webContextTokensSaved");
      shaped(before, Object.fromEntries(numbers.map((name) => [name, "number"])), "savings");
      const messages = [{ role: "user", content: `Twice ${Math.random()}` }];
      for (let times = 0; times < 2; times += 1) await punk.chat({ model: "mock-small", temperature: 0, messages });
      const after = await punk.savings();
      same([after.totalRuns - before.totalRuns, after.optimizedRuns - before.optimizedRuns], [2, 1]);
    },
  },
  {
    name: "cacheStats counts entries and hits for each tier",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const args = { id: `stats-${Math.random()}` };
      await punk.toolCacheStore("orders", args, 1, 60);
      const tier = async () => (await punk.cacheStats()).stats.find((line) => line.cacheType === "tool_result");
      const before = await tier();
      await punk.toolCacheCheck("orders", args);
      const after = await tier();
      shaped(after, { cacheType: "string", entries: "number", hits: "number" }, "tier");
      ok(after.entries >= 1, "nothing is kept");
      same(after.hits - before.hits, 1);
    },
  },
  {
    name: "a prompt that was answered elsewhere becomes a completed run",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const { runId } = await punk.ingestPrompt("claude-code", "Fix the build", { sessionId: "s-1", metadata: { project: "support" } });
      const { run, events } = await punk.runDetail(runId);
      same([run.kind, run.status], ["ingest", "completed"]);
      const text = JSON.stringify(events);
      for (const part of ["claude-code", "Fix the build", "s-1", "support"]) has(text, part, "what is recorded");
      ok((await punk.ingestPrompt("cursor", "Another")).runId !== runId, "two prompts are two runs");
    },
  },
];
