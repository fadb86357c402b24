// The client itself: its options, what can be read of it, and what cannot.
import { has, ok, same, thrown } from "./check.mjs";

const { inspect } = await import("node:util").catch(() => ({ inspect: String }));

export default [
  {
    name: "without options the client has the documented defaults",
    run({ Punk }) {
      const { baseUrl, app, agent, subject } = new Punk();
      same([baseUrl, app, agent ?? null, subject ?? null], ["http://localhost:4100", "default-app", null, null]);
    },
  },
  {
    name: "baseUrl, app, agent and subject are readable; trailing slashes of the address are stripped",
    run({ Punk }) {
      const punk = new Punk({ baseUrl: "http://gateway.test:1///", app: "desk", agent: "triage", subject: "user-7" });
      same([punk.baseUrl, punk.app, punk.agent, punk.subject], ["http://gateway.test:1", "desk", "triage", "user-7"]);
    },
  },
  {
    name: "the API key is private",
    run({ Punk }) {
      const punk = new Punk({ apiKey: "pk_live_hidden" });
      ok(!("apiKey" in punk), "it is a property");
      const shown = [JSON.stringify(punk), inspect(punk, { depth: 9, showHidden: true }), ...Object.getOwnPropertyNames(punk)];
      for (const text of shown) ok(!text.includes("hidden"), text);
    },
  },
  {
    name: "an option that fits into no header is refused by its name",
    async run({ Punk }) {
      for (const name of ["apiKey", "app", "agent", "subject"]) {
        const error = await thrown(async () => new Punk({ [name]: "zwei\nZeilen" }));
        ok(error instanceof TypeError, error);
        has(error.message, `${name} must be`);
        ok(!error.message.includes("Zeilen"), "a key would be in the message");
      }
    },
  },
  {
    name: "the Chorus helper sets the model and keeps the rest",
    run({ PUNK_CHORUS_MODEL, punkChorusChat }) {
      same(PUNK_CHORUS_MODEL, "punk/chorus");
      const asked = { messages: [{ role: "user", content: "Hi" }], budget_limit_usd: 0.25, chorus: { requestId: "r" } };
      same(punkChorusChat(asked), { ...asked, model: "punk/chorus" });
      same(punkChorusChat({ ...asked, model: "another" }).model, "punk/chorus");
      ok(!("model" in asked), "what was given is left alone");
    },
  },
  {
    name: "canonical JSON has its members in the standard's order",
    run({ canonicalJson }) {
      const value = { 9: [1e21, -0, 0.1], 10: null, b: true, "\u20ac": "\u0007\"", "\ud83d\ude00": {}, "\ufb33": [] };
      same(canonicalJson(value), '{"10":null,"9":[1e+21,0,0.1],"b":true,"\u20ac":"\\u0007\\"","\ud83d\ude00":{},"\ufb33":[]}');
    },
  },
];
