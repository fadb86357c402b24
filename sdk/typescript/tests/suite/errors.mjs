// The error behaviour, row by row: what throws, with which words, and what never does.
import { has, ok, same, thrown } from "./check.mjs";

const RUN = "run_01k9zv3c8s7e5h2m4n6p8r0t2v";
const MESSAGES = [{ role: "user", content: "Hi" }];

/** Row 1: everything that throws, with its method and path. */
const THROWING = [
  ["chat", "POST /v1/chat/completions", (punk) => punk.chat({ model: "m", messages: MESSAGES })],
  ["trace", "POST /api/v1/trace", (punk) => punk.trace(RUN, "tool.called", {})],
  ["feedback", `POST /api/v1/runs/${RUN}/feedback`, (punk) => punk.feedback(RUN, 1)],
  ["memory.recordInfluence", `POST /api/v1/runs/${RUN}/memory`, (punk) => punk.memory.recordInfluence(RUN, { source: "s", trustLane: "observed" })],
  ["ingestPrompt", "POST /api/v1/ingest/prompt", (punk) => punk.ingestPrompt("s", "p")],
  ["savings", "GET /api/v1/savings", (punk) => punk.savings()],
  ["patterns", "GET /api/v1/patterns", (punk) => punk.patterns()],
  ["artifacts", "GET /api/v1/artifacts", (punk) => punk.artifacts()],
  ["artifactDetail", "GET /api/v1/artifacts/art_1", (punk) => punk.artifactDetail("art_1")],
  ["runDetail", `GET /api/v1/runs/${RUN}`, (punk) => punk.runDetail(RUN)],
  ["evidencePacket", `GET /api/v1/runs/${RUN}/evidence-packet`, (punk) => punk.evidencePacket(RUN)],
  ["cacheStats", "GET /api/v1/cache/stats", (punk) => punk.cacheStats()],
  ["learningTick", "POST /api/v1/learning/tick", (punk) => punk.learningTick()],
  ["promoteArtifact", "POST /api/v1/artifacts/art_1/promote", (punk) => punk.promoteArtifact("art_1")],
];

/** Ways in which a gateway can be of no use. */
const TROUBLES = ["refuse-401", "refuse-404", "refuse-500", "refuse-503", "reset", "page"];

const throwing = THROWING.map(([name, call, attempt]) => ({
  name: `errors: ${name} throws, with the first 500 characters of what came back`,
  async run({ Punk, PunkError }, { broken }) {
    for (const [how, status] of [["refuse-503", "503 Service Unavailable"], ["refuse-404", "404 Not Found"]]) {
      const error = await thrown(() => attempt(new Punk({ baseUrl: `${broken}/${how}/x` })));
      ok(error instanceof Error && error instanceof PunkError, "it is an Error");
      same(error.message, `Punk API ${call} failed: ${status} ${"0123456789".repeat(50)}`);
      same([`${error.method} ${error.path}`, error.status, error.body.length], [call, Number(status.slice(0, 3)), 700]);
    }
  },
}));

/** A watched tool of the given level, and how often it was executed. */
function tool(punk, more) {
  const count = { executed: 0 };
  const execute = (args) => ({ args, times: (count.executed += 1) });
  return { call: punk.traceTool({ name: "tool", execute, ...more }), count };
}

export default [
  ...throwing,
  {
    name: "errors: an answer without a body says status and text alone",
    async run({ Punk }, { broken }) {
      const error = await thrown(() => new Punk({ baseUrl: `${broken}/silent-500/x` }).savings());
      same(error.message, "Punk API GET /api/v1/savings failed: 500 Internal Server Error");
    },
  },
  {
    name: "errors: nobody there, and somebody else there, are told as such",
    async run({ Punk }, { broken, nobody }) {
      const away = await thrown(() => new Punk({ baseUrl: nobody }).savings());
      has(away.message, `Punk API GET /api/v1/savings failed: no answer from ${nobody}`);
      same(away.status, 0);
      ok(away.cause instanceof Error, "the cause is kept");
      const other = await thrown(() => new Punk({ baseUrl: `${broken}/page/x` }).savings());
      has(other.message, "Punk API GET /api/v1/savings failed: 200 OK, but the body is not JSON");
      has(other.message, "<!doctype html>");
    },
  },
  {
    name: "errors: no message has the API key in it",
    async run({ Punk }, { broken, keyed, nobody }) {
      const apiKey = "pk_live_never_to_be_seen";
      for (const baseUrl of [keyed, nobody, `${broken}/page/x`, `${broken}/refuse-401/x`]) {
        const error = await thrown(() => new Punk({ baseUrl, apiKey }).savings());
        ok(!`${error.message}${error.stack}${JSON.stringify(error)}`.includes("never_to_be_seen"), baseUrl);
      }
    },
  },
  {
    name: "errors: tracing inside a tool is swallowed, and the tool succeeds untraced",
    async run({ Punk }, { broken, open, nobody }) {
      const places = [...TROUBLES.map((how) => `${broken}/${how}/x`), nobody, open];
      for (const baseUrl of places) {
        const { call, count } = tool(new Punk({ baseUrl }), { sideEffectLevel: 4 });
        // At the real gateway no run has this id.
        same(await call({ id: 7 }, { runId: RUN }), { args: { id: 7 }, times: 1 }, baseUrl);
        same(count.executed, 1, baseUrl);
      }
    },
  },
  {
    name: "errors: what cannot be written as JSON breaks no tool",
    async run({ Punk }, { open }) {
      const { call } = tool(new Punk({ baseUrl: open }), { sideEffectLevel: 1, ttlSeconds: 60, execute: (args) => args });
      const round = {};
      round.itself = round;
      ok((await call(round, { runId: RUN })) === round, "it is what the tool gave");
      ok((await call(7n, { runId: RUN })) === 7n, "it is what the tool gave");
    },
  },
  {
    name: "errors: toolCacheCheck degrades to a miss",
    async run({ Punk }, { broken, nobody }) {
      for (const baseUrl of [...TROUBLES.map((how) => `${broken}/${how}/x`), `${broken}/empty/x`, nobody]) {
        const punk = new Punk({ baseUrl });
        same(await punk.toolCacheCheck("orders", { id: 7 }), { hit: false }, baseUrl);
        const { call } = tool(punk, { sideEffectLevel: 0, ttlSeconds: 60 });
        same(await call({}), { args: {}, times: 1 }, baseUrl);
      }
    },
  },
  {
    name: "errors: toolCacheStore is swallowed",
    async run({ Punk }, { broken, keyed, nobody }) {
      for (const baseUrl of [...TROUBLES.map((how) => `${broken}/${how}/x`), nobody, keyed]) {
        same(await new Punk({ baseUrl }).toolCacheStore("orders", { id: 7 }, 1, 60), undefined, baseUrl);
      }
    },
  },
  {
    name: "errors: a gateway that never answers holds a tool up for seconds, and not for ever",
    async run({ Punk }, { broken }) {
      const begun = Date.now();
      same(await new Punk({ baseUrl: `${broken}/mute/x` }).toolCacheCheck("orders", {}), { hit: false });
      const took = Date.now() - begun;
      ok(took >= 4_000 && took < 15_000, `it took ${took} ms`);
    },
  },
  {
    name: "errors: what a tool throws propagates unchanged, whatever the gateway does",
    async run({ Punk }, { broken, nobody }) {
      for (const baseUrl of [`${broken}/refuse-500/x`, `${broken}/reset/x`, nobody]) {
        for (const terms of [{ sideEffectLevel: 1, ttlSeconds: 60 }, { sideEffectLevel: 3 }]) {
          const broke = { not: "even an Error" };
          const execute = () => Promise.reject(broke);
          const { call } = tool(new Punk({ baseUrl }), { ...terms, execute });
          ok((await thrown(() => call({}, { runId: RUN }))) === broke, "another error came out");
        }
      }
    },
  },
];
