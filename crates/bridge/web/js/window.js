// Rows by the thousand: only those near what is seen are in the page. Rows stand in chunks; a chunk out of sight is an
// empty box of the height that it had.

import { swap } from './dom.js';

/** @typedef {{key: string, rev: number}} Item */
/**
 * @template {Item} T
 * @typedef {{box: HTMLElement, items: T[], shown: Map<string, {element: HTMLElement, rev: number}> | null, height: number}} Chunk
 */

const CHUNK = 20;
/** The guess for rows that were never seen. */
const GUESS = 72;
/** How far beyond the edges rows are kept, in heights of the view. */
const BEYOND = 1.2;
/** Nearer to the end than this counts as being there, in pixels. */
const NEAR = 40;

/**
 * A scrolling list.
 *
 * @template {Item} T
 */
export class WindowedRows {
  /** Whether new rows are followed. */
  following = true;

  /** @type {Chunk<T>[]} */
  #chunks = [];
  #lastTop = 0;
  #painting = false;

  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} content where the rows go, inside of the scroller
   * @param {(item: T) => HTMLElement} render
   * @param {{top?: () => void, follow?: (following: boolean) => void}} [tell] the reader is near the top, or follows
   */
  constructor(scroller, content, render, tell = {}) {
    this.scroller = scroller;
    this.content = content;
    this.render = render;
    this.tell = tell;
    scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    // In capture: what is opened must not be scrolled away when it makes the list longer.
    content.addEventListener('click', (event) => this.#opens(event), { capture: true });
    const resized = new ResizeObserver(() => this.#stick());
    resized.observe(scroller);
    resized.observe(content);
    if (content.parentElement !== null && content.parentElement !== scroller) resized.observe(content.parentElement);
  }

  /** How many rows there are. */
  get count() {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.items.length, 0);
  }

  /**
   * Shows these rows: more at the end, others changed in place, or others altogether.
   *
   * @param {T[]} items
   */
  set(items) {
    const first = this.#chunks[0]?.items[0];
    const same = first !== undefined && first.key === items[0]?.key && items.length >= this.count;
    if (same) this.#extend(items);
    else this.#rebuild(items);
    this.#stick();
    this.#paint();
  }

  /** Goes to the end and follows again. */
  toEnd() {
    this.following = true;
    this.#stick();
    this.tell.follow?.(true);
    this.#later();
  }

  /** @param {T[]} items */
  #extend(items) {
    let at = 0;
    for (const chunk of this.#chunks) {
      const full = chunk === this.#chunks.at(-1) ? CHUNK : chunk.items.length;
      chunk.items = items.slice(at, at + full);
      at += chunk.items.length;
      if (chunk.shown !== null) this.#show(chunk);
    }
    for (; at < items.length; at += CHUNK) this.#add(items.slice(at, at + CHUNK));
  }

  /** @param {T[]} items */
  #rebuild(items) {
    const anchor = this.#anchor();
    this.#chunks = [];
    this.content.replaceChildren();
    // Chunks are cut from the end, so that the last ones, which are seen first, are full.
    const odd = items.length % CHUNK;
    if (odd > 0) this.#add(items.slice(0, odd));
    for (let at = odd; at < items.length; at += CHUNK) this.#add(items.slice(at, at + CHUNK));
    if (anchor === null || this.following) return;
    const chunk = this.#chunks.find(({ items }) => items.some(({ key }) => key === anchor.key));
    if (chunk === undefined) return;
    this.#show(chunk);
    const element = chunk.shown?.get(anchor.key)?.element;
    if (element === undefined) return;
    this.scroller.scrollTop += element.getBoundingClientRect().top - anchor.top;
    this.#lastTop = this.scroller.scrollTop;
  }

  /** The first row that is seen, and where. */
  #anchor() {
    const edge = this.scroller.getBoundingClientRect().top;
    for (const chunk of this.#chunks) {
      for (const [key, { element }] of chunk.shown ?? []) {
        const { top, bottom } = element.getBoundingClientRect();
        if (bottom > edge) return { key, top };
      }
    }
    return null;
  }

  /** @param {T[]} items */
  #add(items) {
    const box = document.createElement('div');
    box.className = 'chunk';
    const height = items.length * GUESS;
    box.style.height = `${height}px`;
    this.content.append(box);
    this.#chunks.push({ box, items, shown: null, height });
  }

  /** Puts a chunk's rows into the page, or brings them up to date. @param {Chunk<T>} chunk */
  #show(chunk) {
    if (chunk.shown === null) {
      chunk.shown = new Map();
      chunk.box.style.height = '';
    }
    for (const item of chunk.items) {
      const have = chunk.shown.get(item.key);
      if (have?.rev === item.rev) continue;
      const element = this.render(item);
      element.dataset['key'] = item.key;
      if (have === undefined) chunk.box.append(element);
      else swap(have.element, element);
      chunk.shown.set(item.key, { element, rev: item.rev });
    }
  }

  /** @param {Chunk<T>} chunk */
  #hide(chunk) {
    // What somebody types or reads with the keyboard stays.
    if (chunk.box.contains(document.activeElement)) return;
    chunk.height = chunk.box.offsetHeight;
    chunk.box.style.height = `${chunk.height}px`;
    chunk.box.replaceChildren();
    chunk.shown = null;
  }

  #scrolled() {
    const { scrollTop } = this.scroller;
    const left = this.scroller.scrollHeight - scrollTop - this.scroller.clientHeight;
    const isUp = scrollTop < this.#lastTop - 1;
    // Who goes up leaves the end, however little; but where rows became smaller, the end itself has moved up.
    const following = isUp ? left < 2 : left < NEAR || this.following;
    this.#lastTop = scrollTop;
    if (following !== this.following) {
      this.following = following;
      this.tell.follow?.(following);
    }
    this.#later();
  }

  /** The reader opens something: the place where it was pressed stays, and the end is left if that is far then. @param {Event} event */
  #opens(event) {
    if (!this.following || !(event.target instanceof Element) || event.target.closest('summary, button') === null) return;
    this.following = false;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const left = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
      this.following = left < NEAR;
      if (!this.following) this.tell.follow?.(false);
    }));
  }

  /** Stays at the end, if that is where the reader is. */
  #stick() {
    if (!this.following) return;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#lastTop = this.scroller.scrollTop;
  }

  #later() {
    if (this.#painting) return;
    this.#painting = true;
    requestAnimationFrame(() => {
      this.#painting = false;
      this.#paint();
    });
  }

  /** Shows what is near and hides what is far, without moving what is seen. */
  #paint() {
    const view = this.scroller.getBoundingClientRect();
    const [from, to] = [view.top - BEYOND * view.height, view.bottom + BEYOND * view.height];
    // From the end to the beginning: what is shown above then moves nothing that was placed before.
    for (const chunk of [...this.#chunks].reverse()) {
      const { top, bottom } = chunk.box.getBoundingClientRect();
      const near = bottom >= from && top <= to;
      if (near === (chunk.shown !== null)) continue;
      const before = chunk.box.offsetHeight;
      if (near) this.#show(chunk);
      else this.#hide(chunk);
      const grown = chunk.box.offsetHeight - before;
      if (grown !== 0 && top < view.top) {
        this.scroller.scrollTop += grown;
        this.#lastTop = this.scroller.scrollTop;
      }
    }
    this.#stick();
    if (this.scroller.scrollTop < view.height) this.tell.top?.();
  }
}
