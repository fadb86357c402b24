// Login: with a key, as a person, or through the provider that the gateway knows. Also where invitations are accepted.
import { html, useState } from "../view.js";
import { sentence } from "../format.js";
import { TextField, Segments } from "../parts/form.js";
import { Notice } from "../parts/states.js";
import { go } from "../router.js";
import { acceptInvitation, enterAsPerson, enterWithKey, rememberPerson, visitor } from "../store/session.js";
import { useCell } from "../store/use.js";

/** @param {{ here: import("../router.js").Place }} props */
export default function Login({ here }) {
  const who = useCell(visitor);
  const invited = here.query.get("invitation") ?? "";
  const [way, setWay] = useState(invited ? "invitation" : "person");
  const [values, setValues] = useState({ email: "", password: "", key: "", token: invited, name: "" });
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const set = (/** @type {keyof typeof values} */ name) => (/** @type {string} */ value) => setValues({ ...values, [name]: value });

  async function enter(/** @type {Event} */ event) {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      if (way === "person") await enterAsPerson(values.email, values.password);
      else if (way === "key") await enterWithKey(values.key.trim());
      else await acceptInvitation(values.token.trim(), values.name, values.password);
      if (here.segments[0] === "login") go("/");
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  }

  const reason = who.kind === "stranger" ? who.reason : null;
  return html`<main class="login" id="main"><div class="login-box">
    <h1>Punk</h1><p class="soft">This gateway wants to know who looks.</p>
    ${reason && html`<${Notice} tone="warn">${reason}<//>`}
    <${Segments} label="How to log in" value=${way} onChange=${(/** @type {string} */ value) => { setWay(value); setError(null); }} options=${[["person", "Person"], ["key", "Key"], ["invitation", "Invitation"]]} />
    <form class="form" onSubmit=${enter}>
      ${way === "person" && html`<${TextField} key="email" label="E-mail" type="email" autocomplete="username" required value=${values.email} onInput=${set("email")} autofocus />
        <${TextField} key="password" label="Password" type="password" autocomplete="current-password" required value=${values.password} onInput=${set("password")} />`}
      ${way === "key" && html`<${TextField} key="key" label="API key" type="password" autocomplete="off" required mono value=${values.key} onInput=${set("key")} autofocus
        hint="The installation's key, or one with the scope read. It is kept for this tab alone." />`}
      ${way === "invitation" && html`<${TextField} key="token" label="Invitation" required mono value=${values.token} onInput=${set("token")} hint="What whoever invited you handed over." />
        <${TextField} key="name" label="Your name" autocomplete="name" value=${values.name} onInput=${set("name")} />
        <${TextField} key="new" label="Password" type="password" autocomplete="new-password" required value=${values.password} onInput=${set("password")} hint="12 characters or more; the one you have, if you are known here." />`}
      ${error && html`<${Notice} tone="bad" role="alert">${sentence(error.message)} ${sentence(error.hint)}<//>`}
      <button class="button primary" type="submit" disabled=${busy}>${busy ? "One moment…" : way === "invitation" ? "Join" : "Log in"}</button>
    </form>
    <p class="small faint"><a class="link" href="/api/v1/auth/oidc/login?returnTo=/" onClick=${() => rememberPerson(true)}>Log in through your organisation's provider</a>, if one is set up.</p>
  </div></main>`;
}
