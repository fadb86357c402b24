// A server that does as it is told, for what the gateway cannot be made to do.
//
// `/HOW/ID/…` is a place: HOW says what it answers, ID keeps what it notes apart, the rest is the path of the request.
// `/HOW/ID/_seen` gives what came there, in order. Pages of every origin may call.
import { once } from "node:events";
import { createServer } from "node:http";

const BODY = "0123456789".repeat(70);
const CORS = { "access-control-allow-origin": "*", "access-control-allow-headers": "*, authorization", "access-control-allow-methods": "*" };
const JSON_TYPE = { "content-type": "application/json" };

/** What each place answers. What is not here is `refuse-STATUS` or `silent-STATUS`. */
const ANSWERS = {
  empty: (request, say) => say(200, "{}", JSON_TYPE),
  page: (request, say) => say(200, "<!doctype html><title>Somebody else</title>", { "content-type": "text/html" }),
  reset: (request) => request.socket.destroy(),
  mute: () => {},
  pages: (request, say, path) => say(200, JSON.stringify(page(path)), JSON_TYPE),
};

/** A list in two pages, as the gateway gives them. */
function page(path) {
  const [, list] = /^\/api\/v1\/(\w+)/.exec(path);
  const [one, two, three] = [1, 2, 3].map((number) => ({ id: `${list.slice(0, 3)}_${number}` }));
  return path.includes("before=") ? { [list]: [three], next: null } : { [list]: [one, two], next: two.id };
}

/** Starts it on a free port; `close` ends it. */
export async function startBroken() {
  const noted = new Map();
  const server = createServer(async (request, response) => {
    const say = (status, body, headers = {}) => response.writeHead(status, { ...CORS, ...headers }).end(body);
    if (request.method === "OPTIONS") return say(204, "");
    const [, how, id, path] = /^\/([^/]+)\/([^/]+)(\/.*)$/.exec(request.url) ?? [];
    const place = `${how}/${id}`;
    if (path === "/_seen") return say(200, JSON.stringify(noted.get(place) ?? []), JSON_TYPE);
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const { method, headers } = request;
    noted.set(place, [...(noted.get(place) ?? []), { method, path, headers, body: body ? JSON.parse(body) : null }]);
    const [, kind, status] = /^(refuse|silent)-(\d+)$/.exec(how) ?? [];
    if (status) return say(Number(status), kind === "refuse" ? BODY : "");
    return ANSWERS[how](request, say, path);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}
