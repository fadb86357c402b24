// The clients against Punk's own mock, which needs no upstream and decides by itself what it says.

import assert from "node:assert/strict";

import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { Output, generateText, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

import * as world from "./world.mjs";

const script = world.scripts("mock");
const behind = { behind: ["mock"] };
const prompt = "Tell me of the sea.";
const messages = [{ role: "user", content: prompt }];

const openai = new OpenAI({ baseURL: `${world.URL_ROOT}/v1`, apiKey: world.OPENAI_KEY, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: world.URL_ROOT, apiKey: world.ANTHROPIC_KEY, maxRetries: 0 });

script("OpenAI's client: a stream says the same", async () => {
  const body = { model: world.OPENAI_MODEL, messages };
  const whole = await openai.chat.completions.create(body);
  assert.equal(await openai.chat.completions.stream(body).finalContent(), whole.choices[0].message.content);
}, behind);

script("Anthropic's client: a stream says the same", async () => {
  const body = { model: world.ANTHROPIC_MODEL, max_tokens: 500, messages };
  const whole = await anthropic.messages.create(body);
  assert.deepEqual((await anthropic.messages.stream(body).finalMessage()).content, whole.content);
}, behind);

const provider = { baseURL: `${world.URL_ROOT}/v1`, apiKey: world.OPENAI_KEY };
for (const [wire, model] of Object.entries({
  chat: createOpenAI(provider).chat(world.OPENAI_MODEL),
  responses: createOpenAI(provider).responses(world.OPENAI_MODEL),
  messages: createAnthropic(provider)(world.ANTHROPIC_MODEL),
})) {
  script(`the AI SDK on ${wire}`, async () => {
    const options = { model, maxRetries: 0 };
    const { text } = await generateText({ ...options, prompt });
    assert.equal((await Array.fromAsync(streamText({ ...options, prompt }).textStream)).join(""), text);
    const output = Output.object({ schema: z.object({ name: z.string(), age: z.number() }) });
    const person = await generateText({ ...options, output, prompt: "Ada is 36 years old." });
    assert.equal(typeof person.output.name, "string");
    const get_weather = tool({ inputSchema: z.object({ city: z.string() }) });
    const called = await generateText({ ...options, prompt, tools: { get_weather }, toolChoice: "required" });
    assert.equal(called.toolCalls[0].toolName, "get_weather");
  }, behind);
}
