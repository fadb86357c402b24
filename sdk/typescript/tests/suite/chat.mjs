// Asking a model through the real gateway.
import { has, ok, same, thrown } from "./check.mjs";

const HELLO = { role: "user", content: "Where is my parcel?" };

/** A request that nobody has made before. */
function fresh(more = {}) {
  const content = `Where is parcel ${Date.now()}-${Math.random()}?`;
  return { model: "mock-small", messages: [{ role: "user", content }], ...more };
}

export default [
  {
    name: "chat gives the answer, its run and its route",
    async run({ Punk }, { open }) {
      const answer = await new Punk({ baseUrl: open }).chat(fresh());
      ok(answer.content.length > 0, "the answer is empty");
      same(answer.content, answer.raw.choices[0].message.content);
      ok(/^run_[0-9a-z]{26}$/.test(answer.runId), answer.runId);
      same(answer.route, "live");
      same(answer.raw.object, "chat.completion");
    },
  },
  {
    name: "the same question at temperature 0 comes from the cache",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open });
      const asked = fresh({ temperature: 0 });
      const [first, second] = [await punk.chat(asked), await punk.chat(asked)];
      same([first.route, second.route], ["live", "exact_cache"]);
      same(second.content, first.content);
      ok(first.runId !== second.runId, "two questions are two runs");
    },
  },
  {
    name: "chat never streams, whatever is asked",
    async run({ Punk }, { open }) {
      const { raw } = await new Punk({ baseUrl: open }).chat(fresh({ stream: true }));
      same(raw.object, "chat.completion");
    },
  },
  {
    name: "the run knows the application, the agent and the subject",
    async run({ Punk }, { open }) {
      const punk = new Punk({ baseUrl: open, app: "desk", agent: "triage", subject: "user-7" });
      const { run } = await punk.runDetail((await punk.chat(fresh())).runId);
      same([run.app, run.agent, run.subject], ["desk", "triage", "user-7"]);
    },
  },
  {
    name: "what OpenAI's wire has beyond the named members passes through",
    async run({ Punk }, { open }) {
      const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
      const tools = [{ type: "function", function: { name: "get_weather", parameters } }];
      const { content, raw } = await new Punk({ baseUrl: open }).chat(fresh({ tools, tool_choice: "required" }));
      same(raw.choices[0].message.tool_calls[0].function.name, "get_weather");
      same(content, "", "an answer without text");
    },
  },
  {
    name: "with its key a client gets in, and without it does not",
    async run({ Punk }, { keyed, key }) {
      const asked = { model: "mock-small", messages: [HELLO] };
      ok((await new Punk({ baseUrl: keyed, apiKey: key }).chat(asked)).runId, "it has a run");
      for (const apiKey of [undefined, "pk_live_somebody_elses"]) {
        const error = await thrown(() => new Punk({ baseUrl: keyed, ...(apiKey && { apiKey }) }).chat(asked));
        has(error.message, "Punk API POST /v1/chat/completions failed: 401 Unauthorized");
      }
    },
  },
  {
    name: "a policy block throws, with the verdict in the message",
    async run({ Punk }, { keyed, key }) {
      const punk = new Punk({ baseUrl: keyed, apiKey: key });
      const error = await thrown(() => punk.chat({ model: "forbidden-1", messages: [HELLO] }));
      has(error.message, "Punk API POST /v1/chat/completions failed: 403 Forbidden");
      same(error.status, 403);
      const { verdict, runId } = JSON.parse(error.body).error;
      same([verdict.effect, verdict.policy], ["deny", "house"]);
      has(error.message, '"effect":"deny"');
      same((await punk.runDetail(runId)).run.status, "blocked");
    },
  },
];
