/**
 * One request to the gateway, and what an answer that is none is told as.
 *
 * Nothing here is retried: the gateway is close by, and it is the gateway that falls back when a model does not answer.
 * The API key is held here, in a private field, and gets into no message.
 */

/** How much of a body is in the message of an error. */
const MOST_OF_BODY = 500;

/** What the gateway refused, or what came instead of its answer. */
export class PunkError extends Error {
  override readonly name = "PunkError";

  constructor(
    message: string,
    /** `POST`, `GET`, … */
    readonly method: string,
    /** The path, without the address of the gateway. */
    readonly path: string,
    /** The HTTP status; 0 when nobody answered. */
    readonly status: number,
    /** The whole body, as text; empty when nobody answered. */
    readonly body: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** What one request is made with. */
export interface Call {
  method: "GET" | "POST";
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** For calls that nobody should have to wait for: after so many milliseconds they count as failed. */
  timeoutMs?: number;
}

/** What came back. Its headers as far as they are read here: not every platform has the types of its own `fetch` at hand. */
export interface Answer<T> {
  body: T;
  headers: { get(name: string): string | null };
}

/** The gateway at one address, with one key. */
export class Transport {
  readonly #apiKey: string | undefined;

  constructor(
    readonly baseUrl: string,
    apiKey: string | undefined,
  ) {
    this.#apiKey = apiKey;
  }

  /** Makes the request. Whatever is not a 2xx with JSON in it is thrown as a `PunkError`. */
  async request<T>(call: Call): Promise<Answer<T>> {
    const { method, path } = call;
    const failed = (how: string, status = 0, body = "", cause?: unknown) => {
      const options = cause === undefined ? undefined : { cause };
      return new PunkError(`Punk API ${method} ${path} failed: ${how}`, method, path, status, body, options);
    };
    // Outside of the attempt: what cannot be written as JSON is the caller's mistake, and not the network's.
    const request = this.#request(call);
    let response: Response, text: string;
    try {
      response = await fetch(this.baseUrl + path, request);
      text = await response.text();
    } catch (error) {
      throw failed(`no answer from ${this.baseUrl}: ${reason(error)}`, 0, "", error);
    }
    const status = `${response.status} ${response.statusText}`.trimEnd();
    if (!response.ok) {
      throw failed(`${status} ${text.slice(0, MOST_OF_BODY)}`.trimEnd(), response.status, text);
    }
    try {
      return { body: JSON.parse(text) as T, headers: response.headers };
    } catch (error) {
      const shown = text.slice(0, MOST_OF_BODY);
      throw failed(`${status}, but the body is not JSON; is ${this.baseUrl} a Punk gateway? ${shown}`, response.status, text, error);
    }
  }

  #request({ method, headers, body, timeoutMs }: Call): RequestInit {
    const all: Record<string, string> = { ...headers };
    if (this.#apiKey) all["Authorization"] = `Bearer ${this.#apiKey}`;
    if (body !== undefined) all["Content-Type"] = "application/json";
    return {
      method,
      headers: all,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
    };
  }
}

/** Node says only `fetch failed` itself; what happened is in the cause. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  // A refused connection to several addresses has a code and no message.
  const { message, code } = cause as { message?: string; code?: string };
  return message || code || String(cause);
}

/** An id as a part of a path. */
export function segment(name: string, id: string): string {
  // An address with `..` in it is another address, and without an id it is another endpoint.
  if (typeof id !== "string" || id === "" || id === "." || id === "..") {
    throw new TypeError(`${name} must be an id such as the gateway gives, and is ${JSON.stringify(id)}`);
  }
  return encodeURIComponent(id);
}
