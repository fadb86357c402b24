// OpenAI's own client on the responses wire.

import assert from "node:assert/strict";

import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

import * as world from "./world.mjs";
import { ANY_PUNK, HELLO, OPENAI_MODEL as model, scripts, unique } from "./world.mjs";

const script = scripts("openai responses");

const client = new OpenAI({ baseURL: `${world.URL_ROOT}/v1`, apiKey: world.OPENAI_KEY, maxRetries: 0, timeout: 30_000 });

const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "The weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, unit: { type: "string" } },
    required: ["city", "unit"],
    additionalProperties: false,
  },
  strict: true,
};

const ask = (input, options = {}, request = {}) => client.responses.create({ model, input, ...options }, request);

/** The final response, put together by the client's own helper when it is streamed. */
function either(stream, input, options = {}) {
  if (!stream) return ask(input, options);
  return client.responses.stream({ model, input, ...options }).finalResponse();
}

for (const stream of [false, true]) {
  const how = stream ? ", streamed" : "";

  script(`a response${how}`, async () => {
    const answer = await either(stream, "say hello", { instructions: "Be brief." });
    assert.equal(answer.status, "completed");
    assert.equal(answer.output[0].content[0].text, HELLO);
    assert.equal(answer.usage.total_tokens, 30);
  });

  script(`tools round trip${how}`, async () => {
    const turns = [{ role: "user", content: "use get_weather for Paris and London" }];
    const first = await either(stream, turns, { tools: [WEATHER] });
    const calls = first.output.filter((item) => item.type === "function_call");
    assert.deepEqual(calls.map((call) => JSON.parse(call.arguments).city), ["Paris", "London"]);
    turns.push(...first.output.map(({ parsed_arguments, ...item }) => item));
    calls.forEach(({ call_id }, index) => turns.push({ type: "function_call_output", call_id, output: ["21", "12"][index] }));
    const final = await either(stream, turns, { tools: [WEATHER] });
    assert.equal(final.output[0].content[0].text, "The tools said: 21 | 12");
  });

  for (const [status, kind] of [
    [400, OpenAI.BadRequestError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ]) {
    script(`failure ${status} raises its own exception${how}`, async () => {
      await assert.rejects(ask(`fail ${status}`, { stream }), kind);
    }, { trouble: true });
  }

  script(`a time-out raises and ends the call${how}`, async () => {
    const prompt = unique("be silent");
    await assert.rejects(ask(prompt, { stream }, { timeout: 500 }), OpenAI.APIConnectionTimeoutError);
    await world.cancelled(prompt);
  });
}

script("images", async () => {
  const image = { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${world.PNG}` };
  const answer = await ask([{ role: "user", content: [{ type: "input_text", text: "look at the image" }, image] }]);
  assert.equal(answer.output_text, world.SAW_PNG);
});

script("structured output", async () => {
  const format = zodTextFormat(z.object({ name: z.string(), age: z.int() }), "person");
  const answer = await client.responses.parse({ model, input: "return json", text: { format } });
  assert.deepEqual(answer.output_parsed, { name: "the name", age: 36 });
});

script("an answer that is too long is incomplete", async () => {
  const answer = await either(true, "write a lot", { max_output_tokens: 16 });
  assert.equal(answer.status, "incomplete");
  assert.equal(answer.incomplete_details.reason, "max_output_tokens");
});

script("aborting a stream reaches the upstream", async () => {
  await world.promptlyCancelled(async (prompt) => {
    const stream = await ask(prompt, { stream: true });
    for await (const _ of stream) break;
    const givenUp = Date.now();
    stream.controller.abort();
    return givenUp;
  });
});

script("what Punk says of the run, and the cache", async () => {
  const body = { model, input: unique("say hello"), temperature: 0, store: false };
  const first = await client.responses.create(body).withResponse();
  const second = await client.responses.create(body).withResponse();
  assert.match(first.response.headers.get("x-punk-run-id"), /^run_/);
  assert.equal(second.response.headers.get("x-punk-route"), "exact_cache");
  assert.equal(second.data.output_text, first.data.output_text);
  assert.notEqual(second.data.id, first.data.id);
}, { behind: ANY_PUNK });
