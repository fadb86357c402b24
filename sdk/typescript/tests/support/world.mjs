// What the cases run against: gateways of three kinds, and a server that fails as it is told.
import { createServer } from "node:net";
import { once } from "node:events";
import { startBroken } from "./broken.mjs";
import { startGateway } from "./gateway.mjs";
import { teach } from "./lessons.mjs";

const KEY = "pk_live_the_tests_own_key_0123456789";
const HOUSE = `
name: house
version: "1"
description: What may be asked in this house.
defaultEffect: allow
rules:
  - effect: deny
    actions: ["model:chat"]
    when: { model: ["forbidden-*"] }
`;

/**
 * Starts everything. `world` is what the cases are given, as JSON; `open` is the gateway whose folder a test may want.
 */
export async function startWorld() {
  const closers = [];
  const started = async (starting) => {
    const server = await starting;
    closers.push(server.close);
    return server;
  };
  const close = async () => void (await Promise.all(closers.map((closer) => closer())));
  try {
    const open = await started(startGateway());
    // Pages of other origins may call where a key is asked for; the page of the browser's suite is one.
    const keyed = await started(
      startGateway({ server: 'cors_origins = ["*"]', more: `[auth]\napi_key = "${KEY}"\n`, files: { "policies/house.yaml": HOUSE } }),
    );
    const broken = await started(startBroken());
    const nobody = `http://127.0.0.1:${await closedPort()}`;
    const world = { open: open.url, taught: open.url, keyed: keyed.url, key: KEY, broken: broken.url, nobody, ...(await teach(open.url)) };
    return { world, open, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A port on which nobody listens. */
async function closedPort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
