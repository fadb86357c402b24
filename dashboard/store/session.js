// Who looks: nobody in particular (an open gateway), somebody with a key, or a person who logged in.
import { ApiError, call, credentials, post, refusals, rememberKey } from "../api.js";
import { Cell } from "../view.js";

/** @typedef {import("../types/api").LoggedIn} LoggedIn */
/** @typedef {{ kind: "unknown" } | { kind: "stranger", reason: string | null } | { kind: "open" } | { kind: "key" } | { kind: "person", person: LoggedIn }} Visitor */

/** @type {Cell<Visitor>} */
export const visitor = new Cell(/** @type {Visitor} */ ({ kind: "unknown" }));

/** Changes when the same pages would show somebody else's data, so that nothing of before is left on them. */
export const scope = new Cell(0);

/** @param {Visitor} next */
function become(next) {
  visitor.set(next);
  scope.set(scope.value + 1);
}

const PERSON = "punk.person";

/** That somebody logs in here is remembered, not who: an open gateway need not be asked for a session that it has not. @param {boolean} there */
export function rememberPerson(there) {
  try { if (there) localStorage.setItem(PERSON, "1"); else localStorage.removeItem(PERSON); } catch { /* asked every time then */ }
}

function mayBePerson() {
  try { return localStorage.getItem(PERSON) !== null; } catch { return true; }
}

/** @param {LoggedIn} person */
function becomePerson(person) {
  credentials.csrf = person.csrfToken;
  rememberPerson(true);
  become({ kind: "person", person });
}

/** Finds out who looks. A key is tried first, as the gateway does. */
export async function recognise() {
  try {
    if (credentials.key) {
      await call("GET", "/api/v1/savings", { quiet: true });
      return become({ kind: "key" });
    }
    const session = mayBePerson() ? await call("GET", "/api/v1/auth/session", { quiet: true }).catch(onlyRefusals) : null;
    if (session) return becomePerson(session);
    rememberPerson(false);
    await call("GET", "/api/v1/savings", { quiet: true });
    become({ kind: "open" });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0) return become({ kind: "stranger", reason: "The gateway does not answer. Start it, then try again." });
    if (error.status === 403 && credentials.key) return become({ kind: "key" }); // a key that may do other things
    const had = credentials.key !== null;
    rememberKey(null);
    become({ kind: "stranger", reason: had ? "The key does not open this gateway any more." : null });
  }
}

/** @param {unknown} error */
function onlyRefusals(error) {
  if (error instanceof ApiError && error.status >= 400 && error.status < 500) return null;
  throw error;
}

/** @param {string} key */
export async function enterWithKey(key) {
  try {
    await call("GET", "/api/v1/savings", { key, quiet: true });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error; // 403: known, but not for reading usage
  }
  rememberKey(key);
  become({ kind: "key" });
}

/** @param {string} email @param {string} password */
export async function enterAsPerson(email, password) {
  becomePerson(await call("POST", "/api/v1/auth/login", { body: { email, password }, quiet: true }));
}

/** @param {string} token @param {string} name @param {string} password */
export async function acceptInvitation(token, name, password) {
  becomePerson(await call("POST", "/api/v1/auth/accept", { body: { token, name: name || null, password }, quiet: true }));
}

/** @param {string} organisation */
export async function actIn(organisation) {
  becomePerson(await post("/api/v1/auth/organisation", { organisation }));
}

export async function leave() {
  if (visitor.value.kind === "person") await post("/api/v1/auth/logout").catch(() => null);
  credentials.csrf = null;
  rememberKey(null);
  rememberPerson(false);
  become({ kind: "stranger", reason: null });
}

/** A bearer token for /v1, where cookies do not count. Null where none is needed. */
export async function bearer() {
  if (credentials.key) return credentials.key;
  if (visitor.value.kind !== "person") return null;
  const answer = await call("POST", "/api/v1/auth/token");
  return /** @type {string} */ (answer.access_token);
}

// A session that ended while a page was open: ask again, and come back to the same page.
refusals.listen(() => {
  if (visitor.value.kind !== "stranger" && visitor.value.kind !== "unknown") become({ kind: "stranger", reason: "Your session has ended. Log in to go on where you were." });
});
