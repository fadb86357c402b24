// A list of any length of which only the rows in view are drawn. It asks for more when its end comes near.
//
// Rows have one height. Moving with j and k changes the current row and brings it into view; Enter opens it.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../view.js";
import { useKeys } from "./keyboard.js";

const ROW = 44;
const BEYOND = 8;

/**
 * @template T
 * @param {{ label: string, items: T[], keyOf: (item: T) => string, columns: string, head: any, row: (item: T) => any, open: (item: T) => void, href: (item: T) => string,
 *   more?: () => void, hasMore?: boolean, freshKeys?: Set<string>, foot?: any, nameOf: (item: T) => string }} props
 */
export function VirtualList({ label, items, keyOf, columns, head, row, open, href, more, hasMore, freshKeys, foot, nameOf }) {
  const view = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [current, setCurrent] = useState(/** @type {string | null} */ (null));
  const firstKey = items.length > 0 ? keyOf(items[0]) : null;
  const previousFirst = useRef(firstKey);

  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (view.current);
    const measure = () => {
      // The list takes what is left of the window below it.
      const space = Math.max(320, innerHeight - element.getBoundingClientRect().top - scrollY - 56);
      element.style.height = `${Math.min(space, Math.max(items.length, 6) * ROW + (foot ? ROW : 0))}px`;
      setHeight(element.clientHeight);
    };
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, [items.length]);

  // What arrives at the top must not move what somebody is reading.
  useLayoutEffect(() => {
    const element = view.current;
    if (element && element.scrollTop > 0 && previousFirst.current && firstKey !== previousFirst.current) {
      const moved = items.findIndex((item) => keyOf(item) === previousFirst.current);
      if (moved > 0) element.scrollTop += moved * ROW;
    }
    previousFirst.current = firstKey;
  }, [firstKey]);

  const from = Math.max(0, Math.floor(top / ROW) - BEYOND);
  const to = Math.min(items.length, Math.ceil((top + height) / ROW) + BEYOND);
  useEffect(() => { if (hasMore && more && to > items.length - 40) more(); }, [to, hasMore, items.length]);

  const index = items.findIndex((item) => keyOf(item) === current);
  const move = (/** @type {number} */ step) => {
    if (items.length === 0) return;
    const next = Math.max(0, Math.min(items.length - 1, index < 0 ? 0 : index + step));
    setCurrent(keyOf(items[next]));
    const element = /** @type {HTMLDivElement} */ (view.current);
    if (next * ROW < element.scrollTop) element.scrollTop = next * ROW;
    if ((next + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (next + 1) * ROW - element.clientHeight;
  };
  useKeys({ j: () => move(1), k: () => move(-1), Enter: () => { if (index >= 0) open(items[index]); }, Home: () => move(-items.length), End: () => move(items.length) }, [items, current]);

  const grid = { gridTemplateColumns: `var(--list-columns, ${columns})` };
  return html`<div role="table" aria-label=${label} aria-rowcount=${hasMore ? -1 : items.length + 1}>
    <div role="rowgroup"><div class="list-head" role="row" style=${grid}>${head}</div></div>
    <div class="list-view" ref=${view} tabindex="0" role="rowgroup" aria-label=${`${label}, rows`} onScroll=${(/** @type {Event} */ event) => setTop(/** @type {HTMLElement} */ (event.currentTarget).scrollTop)}>
      <div class="list-space" role="presentation" style=${{ height: `${items.length * ROW + (foot ? ROW : 0)}px` }}>
        ${items.slice(from, to).map((item, i) => {
          const key = keyOf(item);
          return html`<div key=${key} class="list-row" role="row" aria-rowindex=${from + i + 2} data-current=${String(key === current)} data-fresh=${String(freshKeys?.has(key) ?? false)}
            style=${{ ...grid, transform: `translateY(${(from + i) * ROW}px)` }} onClick=${(/** @type {MouseEvent} */ event) => { if (!(/** @type {Element} */ (event.target).closest("a"))) { setCurrent(key); open(item); } }}>
            ${row(item)}<a class="visually-hidden" role="cell" href=${href(item)} tabindex="-1">Open ${nameOf(item)}</a></div>`;
        })}
        ${foot && html`<div class="list-row faint" role="row" style=${{ transform: `translateY(${items.length * ROW}px)` }}><span role="cell">${foot}</span></div>`}
      </div></div></div>`;
}
