// The end of a conversation: what is being written, what is on its way, and what the model is doing right now.

/** @import { App } from '../main.js' */
/** @import { Session } from '../log/session.js' */

import { growHtml, h, refill } from '../dom.js';
import { clock } from '../format.js';
import { icon } from '../icons.js';

/** The end of a conversation. */
export class Tail {
  element = h('div', { class: 'tail' });
  #thinking = h('div', { class: 'row thought live' });
  #text = h('div', { class: 'prose text plain streaming' });
  #outgoing = h('div', {});
  #working = h('div', { class: 'row working-line' });
  #sentShown = '';
  #since = 0;

  /**
   * @param {App} app
   * @param {string} sessionId
   */
  constructor(app, sessionId) {
    this.app = app;
    this.sessionId = sessionId;
    this.thought = h('span', { class: 'thought-live' });
    this.#thinking.append(icon('thought'), this.thought);
    this.clock = h('span', { class: 'working-clock' });
    this.doing = h('span', { class: 'working-what' });
    this.#working.append(h('span', { class: 'wave', 'aria-hidden': 'true' }, h('i'), h('i'), h('i')), this.doing, this.clock);
    this.row = h('div', { class: 'row said live' }, this.#text);
    this.element.append(this.#thinking, this.row, this.#outgoing, this.#working);
  }

  /** @param {Session} session */
  update(session) {
    const { text, thinking, html } = session.stream;
    this.#thinking.hidden = thinking === '';
    this.thought.textContent = thinking.trim().split('\n').at(-1) ?? '';
    this.row.hidden = text === '';
    this.#text.classList.toggle('plain', html === undefined);
    if (html === undefined) append(this.#text, text);
    else growHtml(this.#text, html);
    const running = session.status === 'running' && session.state === 'running';
    const behind = session.state === 'running' && session.status === 'idle' ? this.app.list.find(this.sessionId)?.background ?? [] : [];
    this.#working.hidden = (!running || text !== '') && behind.length === 0;
    this.doing.textContent = behind.length === 0 ? 'Working'
      : `Running in background: ${behind[0]}${behind.length === 1 ? '' : ` and ${behind.length - 1} more`}`;
    this.#since = running ? session.transcript.turnSince : 0;
    this.tick();
    this.#drawOutgoing();
  }

  /** A second has passed. */
  tick() {
    const passed = this.#since === 0 ? 0 : Date.now() - this.#since;
    this.clock.textContent = passed < 1000 ? '' : clock(passed);
  }

  #drawOutgoing() {
    const messages = this.app.outbox.of(this.sessionId);
    const shown = JSON.stringify(messages.map(({ clientMessageId, problem }) => [clientMessageId, problem]));
    if (shown === this.#sentShown) return;
    this.#sentShown = shown;
    refill(this.#outgoing, messages.map((message) => h('div', { class: `row user ${message.problem === undefined ? 'sending' : 'refused'}` },
      h('div', { class: 'bubble' },
        message.images.map((image) => h('img', { class: 'picture', alt: 'Attached picture', src: `data:${image.mediaType};base64,${image.data}` })),
        message.text === '' ? null : h('div', { class: 'prose plain' }, message.text)),
      message.problem === undefined
        ? h('div', { class: 'bubble-state' }, icon('clock'), 'Sending…')
        : h('div', { class: 'bubble-state bad' }, icon('alert'), h('span', {}, message.problem),
          h('button', { class: 'button small', type: 'button', onclick: () => this.app.outbox.retry(message) }, 'Try again'),
          h('button', { class: 'button small', type: 'button', onclick: () => this.app.outbox.drop(message.clientMessageId) }, 'Discard')))));
  }
}

/**
 * Shows a text that mostly grows, by adding what is new.
 *
 * @param {HTMLElement} place
 * @param {string} text
 */
function append(place, text) {
  const have = place.textContent ?? '';
  if (text === have) return;
  if (have !== '' && text.startsWith(have) && place.lastChild instanceof Text) place.lastChild.appendData(text.slice(have.length));
  else place.textContent = text;
}
