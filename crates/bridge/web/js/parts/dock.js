// What is pinned above the composer: approvals, and messages that wait for their turn. Cards stay the same elements while
// they are open, so that nothing typed into them is lost.

/** @import { Approval } from '../types.js' */
/** @import { Session } from '../log/session.js' */
/** @import { Queued } from '../log/transcript.js' */
/** @import { Bridge } from '../wire/bridge.js' */

import { announce, h } from '../dom.js';
import { count } from '../format.js';
import { icon, toolIcon } from '../icons.js';
import { approvalCard } from './approval.js';
import { watch } from './guard.js';
import { reveal } from './reveal.js';
import { failed } from './sheet.js';
import { target, toolName } from './target.js';

/** The approvals of a session, one at a time with the others in a list. */
export class ApprovalDock {
  element = h('div', { class: 'approvals' });
  /** @type {Map<string, HTMLElement>} */
  #cards = new Map();
  /** @type {string | undefined} */
  #chosen;
  #shown = '';

  /**
   * @param {Bridge} bridge
   * @param {Session} session
   * @param {() => void} leave takes the focus when nothing is left here that could have it
   */
  constructor(bridge, session, leave) {
    this.bridge = bridge;
    this.session = session;
    this.leave = leave;
  }

  update() {
    const open = this.session.approvals;
    const project = this.session.transcript.project;
    for (const key of this.#cards.keys()) if (!open.some((approval) => keyOf(approval) === key)) this.#cards.delete(key);
    for (const approval of open) {
      if (this.#cards.has(keyOf(approval))) continue;
      this.#cards.set(keyOf(approval), approvalCard(approval, { bridge: this.bridge, sessionId: this.session.id, project }));
      announce(`Needs you: ${toolName(approval.toolName)} ${target(approval.toolName, approval.input, project)}`);
    }
    const chosen = open.find((approval) => approval.id === this.#chosen) ?? open[0];
    this.#chosen = chosen?.id;
    const shown = JSON.stringify([chosen?.id, open.map(keyOf)]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#show(chosen === undefined ? undefined : this.#cards.get(keyOf(chosen)), open.length < 2 ? [] : [this.#tabs(open)]);
  }

  /**
   * An element that is taken out and put back loses its focus: a card that stays is not touched.
   *
   * @param {HTMLElement | undefined} card
   * @param {HTMLElement[]} tabs
   */
  #show(card, tabs) {
    const hadFocus = this.element.contains(document.activeElement);
    for (const child of [...this.element.children]) if (child !== card) child.remove();
    this.element.prepend(...tabs);
    if (card !== undefined && card.parentElement === null) this.element.append(card);
    watch();
    if (!hadFocus || this.element.contains(document.activeElement)) return;
    // Nobody should come to a button by itself: what is pressed there twice would decide twice.
    if (card === undefined) this.leave();
    else card.focus({ preventScroll: true });
  }

  /** @param {Approval[]} open */
  #tabs(open) {
    const project = this.session.transcript.project;
    return reveal(h('div', { class: 'approval-tabs', role: 'group', 'aria-label': `${open.length} approvals are waiting` },
      h('span', { class: 'approval-count' }, `${open.length} waiting`),
      open.map((approval) => h('button', {
        class: 'tab', type: 'button', 'aria-pressed': String(approval.id === this.#chosen),
        onclick: () => { this.#chosen = approval.id; this.update(); },
      }, toolIcon(approval.toolName), h('span', {}, toolName(approval.toolName)), h('code', {}, target(approval.toolName, approval.input, project))))));
  }
}

/** A card is of one request as it was sent: another one under the same id has a card of its own. @param {Approval} approval */
function keyOf({ id, digest }) {
  return `${id} ${digest ?? ''}`;
}

/** The messages that wait, with their words to be changed or taken back. */
export class QueueDock {
  element = h('div', { class: 'queue' });
  /** The message that is being changed, and where: what is typed there outlives everything else that happens. */
  #editing = { inputId: '', form: h('li') };
  #shown = '';

  /**
   * @param {Bridge} bridge
   * @param {Session} session
   * @param {() => void} leave takes the focus when nothing is left here that could have it
   */
  constructor(bridge, session, leave) {
    this.bridge = bridge;
    this.session = session;
    this.leave = leave;
  }

  update() {
    const waiting = [...this.session.transcript.queue.values()];
    if (!waiting.some(({ inputId }) => inputId === this.#editing.inputId)) this.#editing.inputId = '';
    const when = this.#when();
    const shown = JSON.stringify([this.#editing.inputId, when, waiting.map(({ inputId, text }) => [inputId, text])]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.replaceChildren(...(waiting.length === 0 ? [] : [
      h('p', { class: 'queue-when', role: 'status' }, icon('clock'), when),
      h('ul', { class: 'queue-list', 'aria-label': 'Waiting messages', tabindex: this.bridge.may('input') ? null : 0 },
        waiting.map((input) => this.#editing.inputId === input.inputId ? this.#editing.form : this.#line(input))),
    ]));
    if (this.#editing.inputId !== '') this.#editing.form.querySelector('textarea')?.focus();
    else if (hadFocus) this.leave();
  }

  /** What the messages wait for. */
  #when() {
    const [open] = this.session.approvals;
    if (open === undefined) return 'Sent when this turn ends';
    if ((open.questions ?? []).length > 0) return 'Sent after you answer the question above';
    return open.toolName === 'ExitPlanMode' ? 'Sent after you decide on the plan above' : 'Sent after you decide above';
  }

  /** @param {Queued} input */
  #line({ inputId, text, images }) {
    return h('li', { class: 'queued' },
      h('span', { class: 'queued-text' }, text, images.length > 0 ? ` (+${count(images.length, 'image')})` : ''),
      this.bridge.may('input') ? this.#changes(inputId, text) : null);
  }

  /**
   * @param {string} inputId
   * @param {string} text
   */
  #changes(inputId, text) {
    return [
      h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Edit message', onclick: () => this.#edit(inputId, text) }, icon('pencil')),
      h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Cancel message', onclick: () => this.bridge.cancelInput(this.session.id, inputId).catch(failed) }, icon('close')),
    ];
  }

  /**
   * @param {string} inputId
   * @param {string} text
   */
  #edit(inputId, text) {
    const field = h('textarea', { class: 'field', rows: 2, 'aria-label': 'Waiting message', value: text });
    const done = () => { this.#editing.inputId = ''; this.update(); };
    const save = () => {
      if (field.value.trim() !== '' && field.value !== text) this.bridge.editInput(this.session.id, inputId, field.value).catch(failed);
      done();
    };
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) { event.preventDefault(); save(); }
      if (event.key === 'Escape') done();
    });
    this.#editing = {
      inputId,
      form: h('li', { class: 'queued editing' }, field,
        h('div', { class: 'buttons end' },
          h('button', { class: 'button small', type: 'button', onclick: done }, 'Cancel'),
          h('button', { class: 'button small primary', type: 'button', onclick: save }, 'Save'))),
    };
    this.update();
    field.setSelectionRange(text.length, text.length);
  }
}
