// The page: one connection, one list, and next to it what the address names.

import { h } from './dom.js';
import { ago } from './format.js';
import { icon } from './icons.js';
import { SessionList } from './log/list.js';
import { Outbox } from './log/outbox.js';
import { guardDecisions } from './parts/guard.js';
import { closeNotifications, registerWorker, renewSubscription } from './push.js';
import { closeSheets } from './parts/sheet.js';
import { colourFrame } from './theme.js';
import { ChatView } from './views/chat.js';
import { ListView } from './views/list.js';
import { pairView } from './views/pair.js';
import { ReplayView } from './views/replay.js';
import { SettingsView } from './views/settings.js';
import { startSheet } from './views/start.js';
import { Bridge } from './wire/bridge.js';
import { Connection } from './wire/connection.js';
import { shareWithWorker } from './wire/credential.js';

/** Without a connection for so long, the page says so aloud. */
const BANNER_AFTER = 3_000;

/** No keyboard is smaller than this, in pixels. */
const KEYBOARD = 100;

/** @typedef {{element: HTMLElement, focus: () => void, close: () => void}} View */

/** What all views share. */
export class App {
  /** The session that is shown. @type {string | null} */
  current = null;
  /** The sessions that were started here: nothing in them is old news. @type {Set<string>} */
  started = new Set();
  /** @type {View | null} */
  #view = null;
  #shown = '';
  #greeted = false;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.link = new Connection(new URL('.', document.baseURI));
    this.bridge = new Bridge(this.link);
    this.outbox = new Outbox(this.bridge);
    this.list = new SessionList(this.bridge);
    this.chip = h('span', { class: 'sync', role: 'status', 'aria-live': 'off' });
    this.banner = h('div', { class: 'banner', role: 'alert' });
    this.banner.hidden = true;
    this.listView = new ListView(this);
    this.detail = h('div', { class: 'detail-pane' });
    this.panes = h('main', { class: 'panes', id: 'content' }, this.listView.element, this.detail);
    this.skip = h('a', { class: 'skip-link', href: '#content', onclick: (/** @type {Event} */ event) => this.#skip(event) }, 'Skip to content');
    this.worker = registerWorker(this);
    guardDecisions(this.link);
    this.link.pulse.on(() => this.#connection());
    this.link.changed.on((state) => {
      this.#connection();
      if (state === 'unpaired') this.#pair('');
      else if (state === 'open') this.#welcomed();
    });
    addEventListener('hashchange', () => this.#arrived());
    document.addEventListener('visibilitychange', () => this.#seen());
    setInterval(() => this.#connection(), 1000);
    this.#connection();
    this.#arrived();
  }

  /** Goes somewhere else in the page. @param {string} hash */
  go(hash) {
    if (location.hash === hash) this.#route();
    else location.hash = hash;
  }

  #arrived() {
    closeSheets();
    const code = /^#pair=(.+)$/.exec(location.hash)?.[1];
    if (code !== undefined) {
      this.#pair(decoded(code));
      return;
    }
    if (this.link.downSince !== 0 && !this.#greeted) {
      this.#greeted = true;
      this.link.open();
    }
    this.#route();
  }

  #welcomed() {
    this.#route();
    // What may be done here is known from now on.
    if (this.#view === null && this.bridge.mayNot('input')) this.detail.replaceChildren(this.#nothing());
    // What goes wrong here is tried again with the next connection.
    renewSubscription(this).catch(() => {});
    this.bridge.http('renew', {}).catch(() => {});
    shareWithWorker(this.link.base).catch(() => {});
  }

  /** @param {string} code */
  #pair(code) {
    this.#close();
    const view = pairView(this, code, () => {
      // The code is used up: the address need not keep it.
      history.replaceState(null, '', '#/');
      this.#shown = '';
      this.#greeted = true;
      this.link.open();
      this.#route();
    });
    this.root.replaceChildren(view);
    /** @type {HTMLElement | null} */ (view.querySelector('h1'))?.focus();
  }

  #route() {
    if (this.link.state === 'unpaired') return;
    const [, place = '', id = ''] = location.hash.replace(/^#/, '').split('/').map(decoded);
    const wanted = `${place}/${id}`;
    if (!this.root.contains(this.detail)) {
      this.root.replaceChildren(this.skip, this.banner, this.panes);
      this.listView.update();
    }
    if (wanted === this.#shown && this.#view !== null) return;
    // Settings tell what the bridge said when it greeted.
    if (place === 'settings' && this.link.welcome === null) return;
    const first = this.#shown === '';
    const left = this.current;
    this.#close();
    this.#shown = wanted;
    this.current = place === 's' && id !== '' ? id : null;
    this.#view = place === 's' && id !== '' ? new ChatView(this, id)
      : place === 'replay' && id !== '' ? new ReplayView(this, id)
        : place === 'settings' ? new SettingsView(this) : null;
    this.root.dataset['view'] = this.#view === null ? 'list' : 'detail';
    this.detail.replaceChildren(this.#view?.element ?? this.#nothing());
    this.#connection();
    this.listView.update();
    if (this.#view !== null) this.#view.focus();
    else if (!first) this.listView.focus(left);
    this.#seen();
  }

  /** Goes past the list to what is shown beside it, or to the list where that is all. @param {Event} event */
  #skip(event) {
    // The address names sessions; a place within the page is none.
    event.preventDefault();
    if (this.#view !== null) this.#view.focus();
    else this.listView.focus(null);
  }

  /** Whoever looks at a session need not be told of it any more. */
  #seen() {
    if (this.current === null || document.visibilityState !== 'visible') return;
    // A browser that cannot tell what it shows has nothing to take away.
    closeNotifications(this, this.current).catch(() => {});
  }

  #close() {
    this.#view?.close();
    this.#view = null;
    this.#shown = '';
    this.current = null;
  }

  /** What stands beside the list when no session is chosen. */
  #nothing() {
    if (this.bridge.mayNot('input')) return h('div', { class: 'nothing' }, icon('helm'), h('p', {}, 'Choose a session.'));
    return h('div', { class: 'nothing' }, icon('helm'),
      h('p', {}, 'Choose a session, or start one.'),
      h('button', { class: 'button primary', type: 'button', onclick: () => startSheet(this) }, icon('plus'), 'New session'));
  }

  /** The chip always tells when the bridge was last heard; the banner waits, as most gaps are short. */
  #connection() {
    const { state, downSince, silentSince, heardAt, isLive: live } = this.link;
    const words = live ? 'Live' : heardAt === 0 ? 'Connecting' : ago(heardAt) === 'now' ? 'Reconnecting' : `Synced ${/^\d+ [a-z]+$/.test(ago(heardAt)) ? `${ago(heardAt)} ago` : ago(heardAt)}`;
    // A phone shows the list or a session, so there is one in each.
    for (const chip of [this.chip, ...this.detail.querySelectorAll('.sync')]) {
      chip.className = `sync ${live ? 'live' : 'away'}`;
      if (chip.textContent !== words) chip.textContent = words;
      chip.setAttribute('title', heardAt === 0 ? '' : `Last heard ${new Date(heardAt).toLocaleTimeString()}`);
    }
    const since = silentSince || downSince;
    const show = !live && state !== 'unpaired' && since !== 0 && Date.now() - since >= BANNER_AFTER;
    if (this.banner.hidden !== show) return;
    this.banner.hidden = !show;
    this.banner.replaceChildren(...(show ? [
      h('span', {}, 'No connection to the bridge. Messages wait here; decisions are not sent.'),
      h('button', { class: 'button small', type: 'button', onclick: () => this.link.hurry() }, 'Try now'),
    ] : []));
  }
}

/** A part of the address as it was meant; anybody may have written it. @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Some phones lay their keyboard over the page instead of making it smaller: then the page makes itself smaller, and sheets
 * stand above the keyboard.
 *
 * @param {HTMLElement} root
 */
function fitAboveKeyboard(root) {
  const view = window.visualViewport;
  view?.addEventListener('resize', () => {
    const isCovered = view.scale === 1 && innerHeight - view.height > KEYBOARD;
    root.style.height = isCovered ? `${view.height}px` : '';
    document.documentElement.style.setProperty('--covered', isCovered ? `${innerHeight - view.height}px` : '0px');
    if (isCovered) scrollTo(0, 0);
  });
}

const root = document.getElementById('app');
if (root !== null) {
  colourFrame();
  fitAboveKeyboard(root);
  new App(root);
}
