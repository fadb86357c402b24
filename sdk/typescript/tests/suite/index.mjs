// The suite: cases that run wherever the SDK does, against a gateway and a server that fails as it is told.
//
// A case is `{ name, run(sdk, world) }`: the SDK's module, and where the servers are (`support/world.mjs`). Cases know
// nothing of the platform but `fetch`. To add one: an entry in one of these files.
import chat from "./chat.mjs";
import client from "./client.mjs";
import errors from "./errors.mjs";
import learning from "./learning.mjs";
import runs from "./runs.mjs";
import tools from "./tools.mjs";
import wires from "./wires.mjs";

export const cases = [...client, ...chat, ...tools, ...runs, ...learning, ...wires, ...errors];

/** Runs one case by name; gives null, or what was wrong. */
export async function attempt(name, sdk, world) {
  try {
    await cases.find((one) => one.name === name).run(sdk, world);
    return null;
  } catch (error) {
    return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
  }
}
