// Building the page. Text goes in as text; HTML comes only from the bridge, and only through `serverHtml`.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Props */

/**
 * An element. Functions become listeners, `true` an empty attribute; `false`, `null` and `undefined` nothing.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else if (name === 'value') /** @type {any} */ (element).value = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  fill(element, ...children);
  return element;
}

/**
 * Puts children at the end of an element.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replaces all children of an element.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function refill(element, ...children) {
  element.replaceChildren();
  fill(element, ...children);
}

/** What server HTML may consist of. The bridge has sanitised it already; this is the second lock on the same door. */
const ELEMENTS = new Set(
  ('a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i input ins kbd li mark ol p pre q s ' +
    'samp section small span strong sub summary sup table tbody td tfoot th thead tr u ul var').split(' '),
);
const ATTRIBUTES = new Set(['class', 'href', 'title', 'start', 'align', 'colspan', 'rowspan', 'type', 'checked', 'disabled', 'id', 'lang', 'open']);

/**
 * The one place where HTML becomes elements: what the bridge put into a `rendered` or `html` member.
 *
 * @template {Element} E
 * @param {E} element
 * @param {string} html
 * @returns {E}
 */
export function serverHtml(element, html) {
  // What stands before the first element would lose its spaces.
  const parsed = new DOMParser().parseFromString(`<hr>${html}`, 'text/html');
  parsed.body.firstElementChild?.remove();
  clean(parsed.body);
  orderHeadings(parsed.body);
  makeReachable(parsed.body);
  element.replaceChildren(...[...parsed.body.childNodes].map((node) => document.importNode(node, true)));
  return element;
}

/**
 * Shows HTML that mostly grows: what is there already stays as it is, with whatever is selected or scrolled in it.
 *
 * @param {Element} element
 * @param {string} html
 */
export function growHtml(element, html) {
  const fresh = [...serverHtml(h('div'), html).childNodes];
  const differs = fresh.findIndex((node, index) => !node.isEqualNode(element.childNodes[index] ?? null));
  const same = differs < 0 ? fresh.length : differs;
  while (element.childNodes.length > same) element.lastChild?.remove();
  element.append(...fresh.slice(same));
}

/** @param {Element} parent */
function clean(parent) {
  for (const element of [...parent.querySelectorAll('*')]) {
    const name = element.localName;
    const harmless = element.namespaceURI === 'http://www.w3.org/1999/xhtml' && ELEMENTS.has(name);
    if (!harmless || (name === 'input' && element.getAttribute('type') !== 'checkbox')) {
      element.remove();
      continue;
    }
    for (const attribute of [...element.attributes]) {
      if (!ATTRIBUTES.has(attribute.name)) element.removeAttribute(attribute.name);
    }
    // Ids of the page's own elements must stay the page's.
    if (element.id !== '') element.id = `doc-${element.id}`;
    if (name === 'input') element.setAttribute('disabled', '');
    if (name === 'a') tameLink(element);
  }
}

/** The level of the heading that stands above every text. */
const ABOVE = 2;

/**
 * Headings of a text come below those of the page, and none skips a level: screen readers go from heading to heading. The class
 * keeps the look that the text asked for.
 *
 * @param {Element} parent
 */
function orderHeadings(parent) {
  let last = ABOVE;
  for (const heading of [...parent.querySelectorAll('h1, h2, h3, h4, h5, h6')]) {
    const wanted = Number(heading.localName.slice(1));
    last = Math.min(6, Math.max(ABOVE + 1, Math.min(last + 1, ABOVE + wanted)));
    const placed = heading.ownerDocument.createElement(`h${last}`);
    placed.className = `heading-${wanted}`;
    placed.append(...heading.childNodes);
    heading.replaceWith(placed);
  }
}

/** Code and tables that are wider than the page scroll by themselves, also by keyboard. @param {Element} parent */
function makeReachable(parent) {
  for (const code of parent.querySelectorAll('pre')) code.setAttribute('tabindex', '0');
  for (const table of parent.querySelectorAll('table')) {
    const frame = parent.ownerDocument.createElement('div');
    frame.className = 'table-frame';
    for (const [name, value] of [['tabindex', '0'], ['role', 'group'], ['aria-label', 'Table']]) frame.setAttribute(String(name), String(value));
    table.replaceWith(frame);
    frame.append(table);
  }
}

/** @param {Element} link */
function tameLink(link) {
  const href = link.getAttribute('href') ?? '';
  if (!/^(https?:|mailto:)/i.test(href)) {
    link.removeAttribute('href');
    return;
  }
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
}

/**
 * Puts an element into the place of an older one. Who was in the old one with the keyboard is at the same place in the new one.
 *
 * @param {HTMLElement} old
 * @param {HTMLElement} fresh
 */
export function swap(old, fresh) {
  const reachable = (/** @type {HTMLElement} */ element) =>
    /** @type {HTMLElement[]} */ ([...element.querySelectorAll('a[href], button, input, textarea, select, summary, [tabindex]')]);
  const at = reachable(old).indexOf(/** @type {HTMLElement} */ (document.activeElement));
  old.replaceWith(fresh);
  if (at >= 0) reachable(fresh)[at]?.focus({ preventScroll: true });
}

/** How many of the last announcements stay. */
const ANNOUNCED = 3;

/**
 * Says something to those who do not see the page. Each word is an element of its own: one that comes in the same moment takes
 * nothing away from the one before, and the same words are heard again.
 *
 * @param {string} text
 */
export function announce(text) {
  const place = document.getElementById('announcer');
  place?.append(h('p', {}, text));
  while (place !== null && place.childElementCount > ANNOUNCED) place.firstElementChild?.remove();
}
