// Watched tools, and the cache of what they gave, against the real gateway.
import { ok, same, thrown } from "./check.mjs";

const fresh = () => `order-${Date.now()}-${Math.random()}`;

/** A run to trace into, and a look at what was recorded after it ended. */
async function runOf(punk) {
  const { runId } = await punk.chat({ model: "mock-small", messages: [{ role: "user", content: fresh() }] });
  const traced = async () => {
    const { events, sideEffects } = await punk.runDetail(runId);
    const after = events.slice(events.findIndex((event) => event.type === "run.finished") + 1);
    return { events: after.map(({ type, payload }) => [type, payload]), sideEffects };
  };
  return { runId, traced };
}

export default [
  {
    name: "a tool is recorded in its run: called, planned, completed, in this order",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const { runId, traced } = await runOf(punk);
      const before = [];
      const send = punk.traceTool({
        name: "send_mail",
        execute: async ({ to }) => {
          before.push(...(await traced()).events.map(([type]) => type));
          return { sentTo: to };
        },
      });
      same(await send({ to: "ada" }, { runId }), { sentTo: "ada" });
      same(before.filter((type) => type !== "policy.decided"), ["tool.called", "side_effect.planned"], "what was told before it happened");
      const { events, sideEffects } = await traced();
      const told = events.filter(([type]) => type !== "policy.decided");
      same(told.map(([type]) => type), ["tool.called", "side_effect.planned", "tool.completed"]);
      same(told[0][1], { name: "send_mail", args: { to: "ada" }, sideEffectLevel: 3 });
      same(told[2][1], { name: "send_mail", result: { sentTo: "ada" } });
      same(sideEffects.length, 1);
      const [{ toolName, level, payload, status }] = sideEffects;
      same({ toolName, level, payload, status }, { toolName: "send_mail", level: 3, payload: { to: "ada" }, status: "planned" });
    },
  },
  {
    name: "what only reads plans no side effect",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const { runId, traced } = await runOf(punk);
      const look = punk.traceTool({ name: "look_up", sideEffectLevel: 1, execute: () => "found" });
      same(await look({ id: 7 }, { runId }), "found");
      const { events, sideEffects } = await traced();
      same(events.map(([type]) => type), ["tool.called", "tool.completed"]);
      same(sideEffects, []);
    },
  },
  {
    name: "without a run the tool is executed untraced",
    async run({ Punk }, { open }) {
      const twice = new Punk({ baseUrl: open }).traceTool({ name: "twice", execute: (number) => number * 2 });
      same([await twice(21), await twice(4, {})], [42, 8]);
    },
  },
  {
    name: "a cacheable tool is executed once, and the second call says so in its run",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const { runId, traced } = await runOf(punk);
      let executed = 0;
      const execute = ({ id }) => ({ id, executed: (executed += 1) });
      const look = punk.traceTool({ name: "crm.lookup", sideEffectLevel: 0, ttlSeconds: 60, execute });
      const id = fresh();
      same(await look({ id }), { id, executed: 1 });
      same(await look({ id }, { runId }), { id, executed: 1 }, "the second answer");
      same(executed, 1);
      same((await traced()).events, [["tool.completed", { name: "crm.lookup", result: { id, executed: 1 }, cached: true }]]);
      same(await look({ id: fresh() }).then((one) => one.executed), 2, "another question");
    },
  },
  {
    name: "a tool that changes something, or has no time to live, is executed each time",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      for (const terms of [{ sideEffectLevel: 2, ttlSeconds: 60 }, { sideEffectLevel: 1 }, { sideEffectLevel: 1, ttlSeconds: 0 }, { ttlSeconds: 60 }]) {
        let executed = 0;
        const name = `tool-${fresh()}`.slice(0, 60);
        const tool = punk.traceTool({ name, ...terms, execute: () => (executed += 1) });
        same([await tool({}), await tool({})], [1, 2], JSON.stringify(terms));
      }
    },
  },
  {
    name: "a tool without arguments is cached too",
    async run({ Punk }, { open }) {
      let executed = 0;
      const name = `rates-${fresh()}`.slice(0, 60);
      const rates = new Punk({ baseUrl: open }).traceTool({ name, sideEffectLevel: 1, ttlSeconds: 0.5, execute: () => (executed += 1) });
      same([await rates(), await rates()], [1, 1]);
    },
  },
  {
    name: "the subject is part of what a result is kept under",
    async run({ Punk }, { open }) {
      const of = (subject) => new Punk({ baseUrl: open, subject });
      const args = { id: fresh() };
      await of("ada").toolCacheStore("orders", args, ["a"], 60);
      same(await of("ada").toolCacheCheck("orders", args), { hit: true, result: ["a"] });
      same(await of("bob").toolCacheCheck("orders", args), { hit: false });
      same(await new Punk({ baseUrl: open }).toolCacheCheck("orders", args), { hit: false });
    },
  },
  {
    name: "a result is kept without a time to live, and for longer than the gateway keeps any",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      for (const ttlSeconds of [undefined, 0.1, 1_000_000]) {
        const args = { id: fresh() };
        await punk.toolCacheStore("orders", args, null, ttlSeconds);
        same(await punk.toolCacheCheck("orders", args), { hit: true, result: null }, `after ${ttlSeconds}`);
      }
    },
  },
  {
    name: "what a tool throws reaches the caller unchanged, and is kept by nobody",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const { runId, traced } = await runOf(punk);
      const broken = new RangeError("no such shelf");
      const args = { id: fresh() };
      const execute = () => {
        throw broken;
      };
      const look = punk.traceTool({ name: "shelves", sideEffectLevel: 1, ttlSeconds: 60, execute });
      ok((await thrown(() => look(args, { runId }))) === broken, "another error came out");
      same((await traced()).events.map(([type]) => type), ["tool.called"]);
      same(await punk.toolCacheCheck("shelves", args), { hit: false });
    },
  },
];
