// OpenAI's own client on the chat completions wire.

import assert from "node:assert/strict";

import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

import * as world from "./world.mjs";
import { ANY_PUNK, HELLO, LONG, OPENAI_MODEL as model, scripts, unique } from "./world.mjs";

const script = scripts("openai chat");

const client = new OpenAI({ baseURL: `${world.URL_ROOT}/v1`, apiKey: world.OPENAI_KEY, maxRetries: 0, timeout: 30_000 });
const user = (content) => [{ role: "user", content }];
const ask = (text, options = {}, request = {}) => client.chat.completions.create({ model, messages: user(text), ...options }, request);
const both = [false, true];

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, unit: { type: "string" } },
      required: ["city", "unit"],
      additionalProperties: false,
    },
    strict: true,
  },
};

/** The final message, put together by the client's own helper when it is streamed. */
async function message(stream, messages, options = {}) {
  const body = { model, messages, ...options };
  if (!stream) return (await client.chat.completions.create(body)).choices[0];
  return (await client.chat.completions.stream(body).finalChatCompletion()).choices[0];
}

script("chat", async () => {
  const answer = await ask("say hello");
  assert.equal(answer.choices[0].message.content, HELLO);
  assert.equal(answer.choices[0].finish_reason, "stop");
  const { prompt_tokens, completion_tokens, total_tokens } = answer.usage;
  assert.deepEqual([prompt_tokens, completion_tokens, total_tokens], [21, 9, 30]);
});

script("system prompt, several turns, images", async () => {
  const system = [{ role: "system", content: "Be brief." }, ...user("repeat the system prompt")];
  assert.equal((await message(false, system)).message.content, "The system prompt is: Be brief.");
  const turns = [...user("One."), { role: "assistant", content: "Two." }, ...user("count the turns")];
  assert.equal((await message(false, turns)).message.content, "The turns are: user assistant user");
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${world.PNG}` } };
  const look = user([{ type: "text", text: "look at the image" }, image]);
  assert.equal((await message(false, look)).message.content, world.SAW_PNG);
});

script("a stream says the same, and its usage", async () => {
  let [text, usage, chunks] = ["", null, 0];
  for await (const chunk of await ask("say hello", { stream: true, stream_options: { include_usage: true } })) {
    chunks += 1;
    text += chunk.choices[0]?.delta.content ?? "";
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, HELLO);
  assert.ok(chunks > 5);
  assert.equal(usage.total_tokens, 30);
});

for (const stream of both) {
  const how = stream ? ", streamed" : "";

  script(`tools round trip${how}`, async () => {
    const turns = user("use get_weather for Paris and London");
    const options = { tools: [WEATHER] };
    const { message: first, finish_reason } = await message(stream, turns, options);
    assert.equal(finish_reason, "tool_calls");
    const calls = first.tool_calls;
    assert.deepEqual(calls.map((call) => JSON.parse(call.function.arguments).city), ["Paris", "London"]);
    const made = calls.map(({ id, function: { name, arguments: text } }) => ({ id, type: "function", function: { name, arguments: text } }));
    turns.push({ role: "assistant", content: null, tool_calls: made });
    calls.forEach((call, index) => turns.push({ role: "tool", tool_call_id: call.id, content: ["21", "12"][index] }));
    assert.equal((await message(stream, turns, options)).message.content, "The tools said: 21 | 12");
  });

  script(`a tool that is forced${how}`, async () => {
    const tool_choice = { type: "function", function: { name: "get_weather" } };
    const { message: forced } = await message(stream, user("say hello for Oslo"), { tools: [WEATHER], tool_choice });
    assert.equal(JSON.parse(forced.tool_calls[0].function.arguments).city, "Oslo");
  });

  script(`why an answer ends${how}`, async () => {
    if (!stream) assert.equal((await message(false, user("write a lot"), { max_tokens: 16 })).finish_reason, "length");
    let [text, finish] = ["", null];
    for await (const chunk of await ask("write a lot", { stream: true, max_tokens: 16 })) {
      text += chunk.choices[0].delta.content ?? "";
      finish = chunk.choices[0].finish_reason ?? finish;
    }
    assert.deepEqual([text, finish], [LONG, "length"]);
  });

  script(`a time-out raises and ends the call${how}`, async () => {
    const prompt = unique("be silent");
    await assert.rejects(ask(prompt, { stream }, { timeout: 500 }), OpenAI.APIConnectionTimeoutError);
    await world.cancelled(prompt);
  });

  for (const [status, kind] of [
    [400, OpenAI.BadRequestError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
    [529, OpenAI.InternalServerError],
  ]) {
    script(`failure ${status} raises its own exception${how}`, async () => {
      await assert.rejects(ask(`fail ${status}`, { stream }), (error) => {
        assert.ok(error instanceof kind, `${error}`);
        if (status === 429) assert.equal(error.headers.get("retry-after"), "30");
        return true;
      });
    }, { trouble: true });
  }
}

script("structured output", async () => {
  const Person = z.object({ name: z.string(), age: z.int() });
  const body = { model, messages: user("return json"), response_format: zodResponseFormat(Person, "person") };
  const answer = await client.chat.completions.parse(body);
  assert.deepEqual(answer.choices[0].message.parsed, { name: "the name", age: 36 });
});

script("the client's own loop over tools", async () => {
  const tool = { ...WEATHER.function, function: ({ city }) => `${city}: 21`, parse: JSON.parse };
  const runner = client.chat.completions.runTools({ model, messages: user("use get_weather for Rome"), tools: [{ type: "function", function: tool }] });
  assert.equal(await runner.finalContent(), "The tools said: Rome: 21");
});

script("a stream that breaks is no answer", async () => {
  for (const trouble of ["cut the stream", "overloaded midway"]) {
    await assert.rejects(async () => {
      for await (const _ of await ask(trouble, { stream: true }));
    }, trouble);
  }
}, { trouble: true });

script("aborting reaches the upstream, before and after the first piece", async () => {
  await world.promptlyCancelled(async (prompt) => {
    const controller = new AbortController();
    const call = ask(prompt, {}, { signal: controller.signal });
    call.catch(() => {});
    await world.arrival(prompt);
    const givenUp = Date.now();
    controller.abort();
    await assert.rejects(call, OpenAI.APIUserAbortError);
    return givenUp;
  });
  await world.promptlyCancelled(async (prompt) => {
    const stream = await ask(prompt, { stream: true });
    for await (const _ of stream) break;
    const givenUp = Date.now();
    stream.controller.abort();
    return givenUp;
  });
});

script("a wrong key", async () => {
  const stranger = client.withOptions({ apiKey: "pk_wrong" });
  await assert.rejects(stranger.chat.completions.create({ model, messages: user("say hello") }), OpenAI.AuthenticationError);
}, { behind: ["direct", ...ANY_PUNK] });

script("models", async () => {
  const models = await Array.fromAsync(client.models.list());
  assert.ok(models.length > 0);
}, { behind: ["direct", ...ANY_PUNK] });

script("embeddings", async () => {
  const model = "text-embedding-3-small";
  const packed = await client.embeddings.create({ model, input: ["one", "two"] });
  const plain = await client.embeddings.create({ model, input: "one", encoding_format: "float" });
  assert.deepEqual(packed.data[0].embedding, plain.data[0].embedding);
}, { behind: ["direct", "openai", "compat"] });

script("what Punk says of the run, and the cache", async () => {
  const body = { model, messages: user(unique("say hello")), temperature: 0 };
  const first = await client.chat.completions.create(body).withResponse();
  const second = await client.chat.completions.create(body).withResponse();
  assert.match(first.response.headers.get("x-punk-run-id"), /^run_/);
  assert.notEqual(first.response.headers.get("x-punk-route"), "exact_cache");
  assert.equal(second.response.headers.get("x-punk-route"), "exact_cache");
  const said = ({ choices: [{ message, finish_reason }] }) => [message.role, message.content, finish_reason];
  assert.deepEqual(said(second.data), said(first.data));
  assert.notEqual(second.data.id, first.data.id);
  const streamed = await client.chat.completions.stream(body).finalContent();
  assert.equal(streamed, first.data.choices[0].message.content);
}, { behind: ANY_PUNK });
