// Anthropic's own client.

import assert from "node:assert/strict";

import Anthropic from "@anthropic-ai/sdk";

import * as world from "./world.mjs";
import { ANY_PUNK, ANTHROPIC_MODEL as model, HELLO, LONG, THOUGHT, scripts, unique } from "./world.mjs";

const script = scripts("anthropic");

const client = new Anthropic({ baseURL: world.URL_ROOT, apiKey: world.ANTHROPIC_KEY, maxRetries: 0, timeout: 30_000 });
const user = (content) => [{ role: "user", content }];

const WEATHER = {
  name: "get_weather",
  description: "The weather of a city.",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" }, unit: { type: "string" } },
    required: ["city", "unit"],
  },
};

const body = (text, options) => ({
  model,
  max_tokens: 1000,
  messages: typeof text === "string" ? user(text) : text,
  ...options,
});
const ask = (text, options = {}, request = {}) => client.messages.create(body(text, options), request);
const textOf = (message) => message.content.filter((block) => block.type === "text").map((block) => block.text).join("");
const callsOf = (message) => message.content.filter((block) => block.type === "tool_use");

/** The final message, put together by the client's own helper when it is streamed. */
const either = (stream, text, options = {}) =>
  stream ? client.messages.stream(body(text, options)).finalMessage() : ask(text, options);

for (const stream of [false, true]) {
  const how = stream ? ", streamed" : "";

  script(`a message${how}`, async () => {
    const message = await either(stream, "say hello");
    assert.equal(textOf(message), HELLO);
    assert.equal(message.stop_reason, "end_turn");
    assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens], [21, 9]);
  });

  script(`system prompt${how}`, async () => {
    const message = await either(stream, "repeat the system prompt", { system: "Be brief." });
    assert.equal(textOf(message), "The system prompt is: Be brief.");
  });

  script(`tools round trip${how}`, async () => {
    const turns = user("use get_weather for Paris and London");
    const message = await either(stream, turns, { tools: [WEATHER] });
    assert.equal(message.stop_reason, "tool_use");
    const calls = callsOf(message);
    assert.deepEqual(calls.map((call) => call.input.city), ["Paris", "London"]);
    const results = calls.map((call, index) => ({ type: "tool_result", tool_use_id: call.id, content: ["21", "12"][index] }));
    turns.push({ role: "assistant", content: message.content }, { role: "user", content: results });
    assert.equal(textOf(await either(stream, turns, { tools: [WEATHER] })), "The tools said: 21 | 12");
  });

  script(`a tool that is forced${how}`, async () => {
    const tool_choice = { type: "tool", name: "get_weather" };
    const message = await either(stream, "say hello for Oslo", { tools: [WEATHER], tool_choice });
    assert.equal(callsOf(message)[0].input.city, "Oslo");
  });

  script(`an answer that is too long${how}`, async () => {
    const message = await either(stream, "write a lot", { max_tokens: 16 });
    assert.deepEqual([textOf(message), message.stop_reason], [LONG, "max_tokens"]);
  });

  script(`thinking and tools together${how}`, async () => {
    const turns = user("think, then use get_weather for Paris");
    const options = { tools: [WEATHER], thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 4000 };
    const message = await either(stream, turns, options);
    if (["direct", "anthropic"].includes(world.BEHIND)) assert.equal(message.content[0].thinking, THOUGHT);
    const result = { type: "tool_result", tool_use_id: callsOf(message)[0].id, content: "fine" };
    turns.push({ role: "assistant", content: message.content }, { role: "user", content: [result] });
    assert.equal(textOf(await either(stream, turns, options)), "The tools said: fine");
  });

  script(`a time-out raises and ends the call${how}`, async () => {
    const prompt = unique("be silent");
    await assert.rejects(ask(prompt, { stream }, { timeout: 500 }), Anthropic.APIConnectionTimeoutError);
    await world.cancelled(prompt);
  });

  for (const [status, kind] of [
    [400, Anthropic.BadRequestError],
    [403, Anthropic.PermissionDeniedError],
    [404, Anthropic.NotFoundError],
    [429, Anthropic.RateLimitError],
    [500, Anthropic.InternalServerError],
    [529, Anthropic.InternalServerError],
  ]) {
    script(`failure ${status} raises its own exception${how}`, async () => {
      await assert.rejects(ask(`fail ${status}`, { stream }), (error) => {
        assert.ok(error instanceof kind, `${error}`);
        assert.equal(error.error.type, "error");
        if (status === 429) assert.equal(error.headers.get("retry-after"), "30");
        return true;
      });
    }, { trouble: true });
  }
}

script("images", async () => {
  const source = { type: "base64", media_type: "image/png", data: world.PNG };
  const message = await ask(user([{ type: "image", source }, { type: "text", text: "look at the image" }]));
  assert.equal(textOf(message), world.SAW_PNG);
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
    await assert.rejects(call, Anthropic.APIUserAbortError);
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

script("a wrong key, and a request that makes no sense", async () => {
  const stranger = new Anthropic({ baseURL: world.URL_ROOT, apiKey: "pk_wrong", maxRetries: 0 });
  await assert.rejects(stranger.messages.create(body("say hello")), Anthropic.AuthenticationError);
  await assert.rejects(ask([{ role: "nobody", content: "x" }]), Anthropic.BadRequestError);
}, { behind: ["direct", ...ANY_PUNK] });

script("models and counting tokens", async () => {
  assert.ok((await Array.fromAsync(client.models.list())).length > 0);
  const few = await client.messages.countTokens({ model, messages: user("one") });
  const many = await client.messages.countTokens({ model, messages: user("one ".repeat(200)) });
  assert.ok(few.input_tokens < many.input_tokens);
}, { behind: ["direct", ...ANY_PUNK] });

script("what Punk says of the run, and the cache", async () => {
  const request = body(unique("say hello"), { temperature: 0 });
  const first = await client.messages.create(request).withResponse();
  const second = await client.messages.create(request).withResponse();
  assert.match(first.response.headers.get("x-punk-run-id"), /^run_/);
  assert.equal(second.response.headers.get("x-punk-route"), "exact_cache");
  assert.equal(textOf(second.data), textOf(first.data));
  assert.notEqual(second.data.id, first.data.id);
  assert.equal(textOf(await client.messages.stream(request).finalMessage()), textOf(first.data));
}, { behind: ANY_PUNK });
