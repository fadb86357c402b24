// Begins: who looks, where they are, and the page that belongs there.
import { html, render, useEffect, useState } from "./view.js";
import { Shell } from "./parts/shell.js";
import { Empty, Failure, Skeleton } from "./parts/states.js";
import { DETAILS, PAGES } from "./pages/index.js";
import { place } from "./router.js";
import { recognise, scope, visitor } from "./store/session.js";
import { watchPending } from "./store/pending.js";
import { useCell } from "./store/use.js";

function App() {
  const who = useCell(visitor);
  const version = useCell(scope);
  const here = useCell(place);
  if (who.kind === "stranger" || here.segments[0] === "login") return html`<${Lazy} key="login" load=${() => import("./pages/login.js")} here=${here} />`;
  const [first = "", second] = here.segments;
  const page = PAGES.find((candidate) => candidate.path === first);
  const load = second !== undefined && DETAILS[first] ? DETAILS[first] : page?.load;
  // While it is not known who looks, the frame is there already, and bones where the page will be.
  return html`<${Shell}>${who.kind === "unknown" ? html`<${Skeleton} lines=${8} />`
    : load ? html`<${Lazy} key=${`${first}/${second === undefined ? "" : "one"}/${version}`} load=${load} here=${here} title=${page?.title} />`
    : html`<${Missing} path=${here.path} />`}<//>`;
}

/** @param {{ load: () => Promise<{ default: any }>, here: import("./router.js").Place, title?: string }} props */
function Lazy({ load, here, title }) {
  const [state, setState] = useState(/** @type {{ Page: any, error: any }} */ ({ Page: null, error: null }));
  const begin = () => load().then((module) => setState({ Page: module.default, error: null }), (error) => setState({ Page: null, error }));
  useEffect(() => { begin(); }, []);
  // Another page begins at its top, and is what a screen reader goes on with.
  useEffect(() => {
    if (!state.Page) return;
    scrollTo(0, 0);
    const main = document.getElementById("main");
    if (main && !main.contains(document.activeElement) && document.activeElement !== document.body) main.focus({ preventScroll: true });
  }, [state.Page]);
  useEffect(() => { if (title) document.title = `${title} · Punk`; }, [title]);
  if (state.error) return html`<${Failure} error=${{ message: "A part of the dashboard could not be fetched.", hint: "The gateway may have been replaced by another version: load the page again." }} retry=${() => location.reload()} />`;
  return state.Page ? html`<${state.Page} here=${here} />` : html`<${Skeleton} lines=${8} />`;
}

/** @param {{ path: string }} props */
function Missing({ path }) {
  return html`<${Empty} title="There is no such page" actions=${html`<a class="button" href="#/">Go to the overview</a>`}><p>Nothing is at <code>${path}</code>. The address may be from another version.</p><//>`;
}

watchPending();
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren(); // the bones of index.html
render(html`<${App} />`, root);
// The first page is fetched while it is found out who looks.
const [first = ""] = place.value.segments;
PAGES.find((page) => page.path === first)?.load().catch(() => null);
recognise();
