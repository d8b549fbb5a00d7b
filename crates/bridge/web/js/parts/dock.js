// What is pinned above the composer: approvals, and messages that wait for their turn. Cards stay the same elements while
// they are open, so that nothing typed into them is lost.

/** @import { Session } from '../log/session.js' */
/** @import { Bridge } from '../wire/bridge.js' */

import { announce, h } from '../dom.js';
import { icon } from '../icons.js';
import { approvalCard } from './approval.js';
import { failed } from './sheet.js';
import { target, toolName } from './target.js';

/** The approvals of a session, one at a time with the others in a list. */
export class ApprovalDock {
  element = h('div', { class: 'approvals' });
  /** @type {Map<string, HTMLElement>} */
  #cards = new Map();
  /** @type {string | undefined} */
  #chosen;

  /**
   * @param {Bridge} bridge
   * @param {Session} session
   */
  constructor(bridge, session) {
    this.bridge = bridge;
    this.session = session;
  }

  update() {
    const open = this.session.approvals;
    const project = this.session.transcript.project;
    for (const id of this.#cards.keys()) if (!open.some((approval) => approval.id === id)) this.#cards.delete(id);
    for (const approval of open) {
      if (this.#cards.has(approval.id)) continue;
      this.#cards.set(approval.id, approvalCard(approval, { bridge: this.bridge, sessionId: this.session.id, project }));
      announce(`Needs you: ${toolName(approval.toolName)} ${target(approval.toolName, approval.input, project)}`);
    }
    const chosen = open.find((approval) => approval.id === this.#chosen) ?? open[0];
    this.#chosen = chosen?.id;
    const card = chosen === undefined ? undefined : this.#cards.get(chosen.id);
    const tabs = open.length < 2 ? [] : [h('div', { class: 'approval-tabs', role: 'group', 'aria-label': `${open.length} approvals are waiting` },
      h('span', { class: 'approval-count' }, `${open.length} waiting`),
      open.map((approval) => h('button', {
        class: 'tab', type: 'button', 'aria-pressed': String(approval === chosen),
        onclick: () => { this.#chosen = approval.id; this.update(); },
      }, toolName(approval.toolName), h('code', {}, target(approval.toolName, approval.input, project)))))];
    const wanted = card === undefined ? [] : [...tabs, card];
    // An element that is taken out and put back loses its focus: only what is different is touched.
    if (card !== undefined && this.element.contains(card)) {
      for (const child of [...this.element.children]) if (child !== card) child.remove();
      this.element.prepend(...tabs);
    } else this.element.replaceChildren(...wanted);
  }
}

/** The messages that wait, with their words to be changed or taken back. */
export class QueueDock {
  element = h('div', { class: 'queue' });
  /** @type {string | undefined} */
  #editing;
  #shown = '';

  /**
   * @param {Bridge} bridge
   * @param {Session} session
   */
  constructor(bridge, session) {
    this.bridge = bridge;
    this.session = session;
  }

  update() {
    const waiting = [...this.session.transcript.queue.values()];
    if (this.#editing !== undefined && !waiting.some(({ inputId }) => inputId === this.#editing)) this.#editing = undefined;
    const shown = JSON.stringify([this.#editing, waiting.map(({ inputId, text }) => [inputId, text])]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.element.replaceChildren(...(waiting.length === 0 ? [] : [
      h('ul', { class: 'queue-list', 'aria-label': 'Waiting messages' },
        waiting.map(({ inputId, text, images }) => this.#editing === inputId ? this.#form(inputId, text) : h('li', { class: 'queued' },
          icon('clock'),
          h('span', { class: 'queued-text' }, text, images.length > 0 ? ` (+${images.length})` : ''),
          h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Edit message', onclick: () => { this.#editing = inputId; this.update(); } }, icon('pencil')),
          h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Cancel message', onclick: () => this.bridge.cancelInput(this.session.id, inputId).catch(failed) }, icon('close'))))),
    ]));
    const field = this.element.querySelector('textarea');
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
  }

  /**
   * @param {string} inputId
   * @param {string} text
   */
  #form(inputId, text) {
    const field = h('textarea', { class: 'field', rows: 2, 'aria-label': 'Waiting message', value: text });
    const done = () => { this.#editing = undefined; this.update(); };
    const save = () => {
      if (field.value.trim() !== '' && field.value !== text) this.bridge.editInput(this.session.id, inputId, field.value).catch(failed);
      done();
    };
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.shiftKey) { event.preventDefault(); save(); }
      if (event.key === 'Escape') done();
    });
    return h('li', { class: 'queued editing' }, field,
      h('div', { class: 'buttons end' },
        h('button', { class: 'button small', type: 'button', onclick: done }, 'Leave it'),
        h('button', { class: 'button small primary', type: 'button', onclick: save }, 'Save')));
  }
}
