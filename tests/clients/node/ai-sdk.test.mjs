// The AI SDK with its providers for both vendors, and on both of OpenAI's wires.

import assert from "node:assert/strict";

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, Output, embed, generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";

import * as world from "./world.mjs";
import { HELLO, LONG, scripts } from "./world.mjs";

const script = scripts("ai sdk");

const openai = createOpenAI({ baseURL: `${world.URL_ROOT}/v1`, apiKey: world.OPENAI_KEY });
const anthropic = createAnthropic({ baseURL: `${world.URL_ROOT}/v1`, apiKey: world.ANTHROPIC_KEY });

const MODELS = {
  chat: openai.chat(world.OPENAI_MODEL),
  responses: openai.responses(world.OPENAI_MODEL),
  messages: anthropic(world.ANTHROPIC_MODEL),
};

const get_weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string(), unit: z.string() }),
  execute: ({ city, unit }) => `${city} has 21 degrees ${unit}`,
});
const AFTER_TOOLS = /^The tools said: .*Paris has 21 degrees celsius.*London has 21 degrees celsius/;

for (const [wire, model] of Object.entries(MODELS)) {
  const options = { model, maxRetries: 0 };

  script(`${wire}: a conversation`, async () => {
    const { text, usage } = await generateText({ ...options, prompt: "say hello" });
    assert.equal(text, HELLO);
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [21, 9]);
    const told = await generateText({ ...options, system: "Be brief.", prompt: "repeat the system prompt" });
    assert.equal(told.text, "The system prompt is: Be brief.");
    const messages = [
      { role: "user", content: "One." },
      { role: "assistant", content: "Two." },
      { role: "user", content: "count the turns" },
    ];
    assert.equal((await generateText({ ...options, messages })).text, "The turns are: user assistant user");
  });

  script(`${wire}: an image`, async () => {
    const content = [
      { type: "text", text: "look at the image" },
      { type: "file", data: Buffer.from(world.PNG, "base64"), mediaType: "image/png" },
    ];
    assert.equal((await generateText({ ...options, messages: [{ role: "user", content }] })).text, world.SAW_PNG);
  });

  script(`${wire}: a stream says the same`, async () => {
    const stream = streamText({ ...options, prompt: "say hello" });
    assert.equal((await Array.fromAsync(stream.textStream)).join(""), HELLO);
    const usage = await stream.usage;
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [21, 9]);
    assert.equal(await stream.finishReason, "stop");
  });

  script(`${wire}: tools, to the final answer`, async () => {
    const prompt = "use get_weather for Paris and London";
    const request = { ...options, prompt, tools: { get_weather }, stopWhen: isStepCount(3) };
    const whole = await generateText(request);
    assert.match(whole.text, AFTER_TOOLS);
    assert.equal(whole.steps.length, 2);
    const stream = streamText(request);
    await stream.consumeStream();
    const steps = await stream.steps;
    assert.deepEqual(steps[0].toolCalls.map((call) => call.input.city), ["Paris", "London"]);
    assert.match(await stream.text, AFTER_TOOLS);
  });

  script(`${wire}: structured output`, async () => {
    const output = Output.object({ schema: z.object({ name: z.string(), age: z.number().int() }) });
    const whole = await generateText({ ...options, output, prompt: "return json" });
    assert.equal(whole.output.name, "the name");
    const stream = streamText({ ...options, output, prompt: "return json" });
    await stream.consumeStream();
    assert.equal((await stream.output).name, "the name");
  });

  script(`${wire}: an answer that is too long`, async () => {
    const { text, finishReason } = await generateText({ ...options, prompt: "write a lot", maxOutputTokens: 16 });
    assert.deepEqual([text, finishReason], [LONG, "length"]);
  });

  script(`${wire}: failures`, async () => {
    for (const status of [400, 429, 500]) {
      await assert.rejects(generateText({ ...options, prompt: `fail ${status}` }), (error) => {
        assert.ok(APICallError.isInstance(error), `${error}`);
        assert.equal(error.statusCode, status);
        assert.match(error.message, /failure/);
        return true;
      });
    }
  }, { trouble: true });

  script(`${wire}: aborting a stream reaches the upstream`, async () => {
    await world.promptlyCancelled(async (prompt) => {
      const controller = new AbortController();
      const stream = streamText({ ...options, prompt, abortSignal: controller.signal, onError: () => {} });
      for await (const _ of stream.textStream) break;
      await world.arrival(prompt);
      const givenUp = Date.now();
      controller.abort();
      return givenUp;
    });
  });
}

script("messages: thinking and tools, to the final answer", async () => {
  const thinking = { type: "enabled", budgetTokens: 1024 };
  const result = await generateText({
    model: MODELS.messages,
    prompt: "think, then use get_weather for Paris",
    tools: { get_weather },
    stopWhen: isStepCount(3),
    maxOutputTokens: 4000,
    providerOptions: { anthropic: { thinking } },
  });
  assert.match(result.text, /^The tools said: .*Paris has 21 degrees/);
});

script("embeddings", async () => {
  const { embedding } = await embed({ model: openai.embedding("text-embedding-3-small"), value: "one" });
  assert.equal(embedding.length, 8);
}, { behind: ["direct", "openai", "compat"] });
