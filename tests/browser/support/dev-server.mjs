// Serves dashboard/ from the folder, under the same content security policy as the gateway, and passes everything else
// on to a gateway: for working on pages without building anything.
//
//   PUNK_URL=http://127.0.0.1:4100 node tests/browser/support/dev-server.mjs [port]
import { createReadStream, statSync } from "node:fs";
import { createServer, request as open } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../dashboard", import.meta.url));
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".woff2": "font/woff2", ".json": "application/json", ".md": "text/plain; charset=utf-8", ".txt": "text/plain; charset=utf-8" };

/** @param {string} target the gateway's address */
export function devServer(target) {
  const { host, hostname, port } = new URL(target);
  return createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    if (path === "/" || path.startsWith("/assets/")) return file(path === "/" ? "index.html" : path.slice("/assets/".length), response);
    const headers = { ...request.headers, host };
    if (headers.origin) headers.origin = `http://${host}`;
    const passed = open({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => { if (!response.headersSent) response.writeHead(502); response.end(); });
    response.on("close", () => passed.destroy());
    request.pipe(passed);
    return undefined;
  });
}

function file(name, response) {
  const path = join(FOLDER, normalize(decodeURIComponent(name)));
  try {
    if (!path.startsWith(FOLDER) || !statSync(path).isFile()) throw new Error("not a file");
  } catch {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "content-security-policy": POLICY, "cache-control": "no-cache" });
  createReadStream(path).pipe(response);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2] ?? 4300);
  devServer(process.env.PUNK_URL ?? "http://127.0.0.1:4100").listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
}
