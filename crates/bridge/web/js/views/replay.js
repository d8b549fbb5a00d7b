// A session from its beginning, at the reader's pace: the log is all there is, so any moment of it can be shown.

/** @import { App } from '../main.js' */
/** @import { Row } from '../log/rows.js' */

import { h } from '../dom.js';
import { basename } from '../format.js';
import { icon } from '../icons.js';
import { Session } from '../log/session.js';
import { fold } from '../log/transcript.js';
import { rowElement } from '../parts/row.js';
import { WindowedRows } from '../window.js';

/** The time between two events while it plays. */
const STEP = 350;

/** The replay. */
export class ReplayView {
  #at = 0;
  /** Whether all of it is here and its end was shown once: from then on the reader decides what is shown. */
  #ready = false;
  #loading = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #playing;

  /**
   * @param {App} app
   * @param {string} id
   */
  constructor(app, id) {
    this.app = app;
    this.session = new Session(app.bridge, id);
    this.title = h('h1', { class: 'chat-title', tabindex: -1 }, 'Replay');
    this.place = h('p', { class: 'chat-place' });
    this.rows = h('div', { class: 'rows' });
    this.log = h('div', { class: 'chat-log', role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation', tabindex: 0 },
      h('h2', { class: 'unseen' }, 'Conversation'),
      h('div', { class: 'chat-column' }, this.rows));
    this.list = new WindowedRows(this.log, this.rows, (/** @type {Row} */ row) =>
      rowElement(row, { project: this.session.transcript.project, base: app.link.base, live: false, cost: (dollars) => app.bridge.cost(dollars) }));
    this.slider = h('input', { class: 'scrubber', type: 'range', min: 0, max: 0, value: 0, 'aria-label': 'Position in the session' });
    this.slider.addEventListener('input', () => this.#show(Number(this.slider.value)));
    this.button = h('button', { class: 'round play', type: 'button', 'aria-label': 'Play', onclick: () => this.#toggle() }, icon('play'));
    this.where = h('span', { class: 'replay-where' });
    this.element = h('section', { class: 'chat replay', 'data-session': id, 'aria-label': 'Replay' },
      h('header', { class: 'chat-head' },
        h('a', { class: 'icon-button back', href: `#/s/${encodeURIComponent(id)}`, 'aria-label': 'Back to the session' }, icon('back')),
        h('div', { class: 'chat-names' }, this.title, this.place)),
      h('div', { class: 'chat-body' }, this.log),
      h('div', { class: 'dock' }, h('div', { class: 'dock-column' },
        h('div', { class: 'replay-bar' }, this.button, this.slider, this.where))));
    this.stop = this.session.changed.on(() => this.#loaded());
    void this.session.open();
  }

  focus() {
    this.title.focus({ preventScroll: true });
  }

  close() {
    clearInterval(this.#playing);
    this.stop();
    this.session.close();
  }

  /** A page of it has come, or something more has happened. The first may come long after the view was opened. */
  #loaded() {
    const { events, hasOlder, loaded, transcript } = this.session;
    this.place.textContent = basename(transcript.project ?? '');
    this.title.textContent = transcript.title ?? `Replay of ${basename(transcript.project ?? '')}`;
    this.slider.max = String(events.length);
    if (this.#ready || !loaded) return;
    if (hasOlder) {
      void this.#loadAll();
      return;
    }
    this.#ready = true;
    this.#show(events.length);
  }

  /** Asks for all that is older. What the connection loses of it is asked for again over the next one. */
  async #loadAll() {
    if (this.#loading) return;
    this.#loading = true;
    await this.session.loadAll((have) => { this.where.textContent = `${have} events…`; });
    this.#loading = false;
    if (!this.session.hasOlder) this.#loaded();
  }

  /** @param {number} at so many events have happened */
  #show(at) {
    const { events } = this.session;
    this.#at = Math.max(0, Math.min(at, events.length));
    const then = fold(events.slice(0, this.#at), this.session.around);
    this.list.set(then.rows);
    this.slider.value = String(this.#at);
    const event = events[this.#at - 1];
    const time = event === undefined ? '' : new Date(event.at).toLocaleTimeString();
    this.where.textContent = [`${this.#at} / ${events.length}`, time, this.app.bridge.cost(then.cost)].filter((part) => part !== '').join(' · ');
    this.slider.setAttribute('aria-valuetext', this.where.textContent);
  }

  #toggle() {
    if (this.#playing !== undefined) return this.#pause();
    if (this.#at >= this.session.events.length) this.#show(0);
    this.button.replaceChildren(icon('pause'));
    this.button.setAttribute('aria-label', 'Pause');
    this.#playing = setInterval(() => {
      this.#show(this.#at + 1);
      if (this.#at >= this.session.events.length) this.#pause();
    }, STEP);
  }

  #pause() {
    clearInterval(this.#playing);
    this.#playing = undefined;
    this.button.replaceChildren(icon('play'));
    this.button.setAttribute('aria-label', 'Play');
  }
}
