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
import { copy } from './copy.js';
import { watch } from './guard.js';
import { reveal } from './reveal.js';
import { failed } from './sheet.js';
import { targetInFull, toolName } from './target.js';

/** The approvals of a session, one at a time with the others in a list. */
export class ApprovalDock {
  element = h('div', { class: 'approvals' });
  /** What was typed about requests that another device decided. */
  left = h('div', { class: 'left-overs' });
  /** @type {Map<string, {approval: Approval, card: HTMLElement}>} */
  #cards = new Map();
  /** Whether the last request that went was decided with its card here. */
  #endedHere = true;
  /** @type {string | undefined} */
  #chosen;
  #shown = '';

  /**
   * @param {Bridge} bridge
   * @param {Session} session
   * @param {object} to
   * @param {(wasHere: boolean) => void} to.leave takes the focus when nothing is left here that could have it; tells whether the decision was made here
   * @param {() => Promise<void>} to.stop keeps back what would be sent after the turn
   * @param {(text: string) => void} to.write takes words into the composer
   */
  constructor(bridge, session, to) {
    this.bridge = bridge;
    this.session = session;
    this.to = to;
  }

  update() {
    const open = this.session.approvals;
    const project = this.session.transcript.project;
    for (const [key, { approval, card }] of this.#cards) {
      if (open.some((other) => keyOf(other) === key)) continue;
      this.#cards.delete(key);
      this.#over(approval, card);
    }
    for (const approval of open) {
      if (this.#cards.has(keyOf(approval))) continue;
      const deciding = { bridge: this.bridge, sessionId: this.session.id, project, beforeStop: this.to.stop };
      this.#cards.set(keyOf(approval), { approval, card: approvalCard(approval, deciding) });
      announce(`Needs you: ${toolName(approval.toolName)} ${targetInFull(approval.toolName, approval.input, project)}`);
    }
    const chosen = open.find((approval) => approval.id === this.#chosen) ?? open[0];
    this.#chosen = chosen?.id;
    const shown = JSON.stringify([chosen?.id, open.map(keyOf)]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#show(chosen === undefined ? undefined : this.#cards.get(keyOf(chosen))?.card, open.length < 2 ? [] : [this.#tabs(open)]);
  }

  /**
   * A request is over. What was typed about it and not sent stays, where another device was first.
   *
   * @param {Approval} approval
   * @param {HTMLElement} card
   */
  #over(approval, card) {
    const end = this.session.events.findLast((event) => event.type === 'permission_resolved' && event['id'] === approval.id);
    const isOwn = end !== undefined && end['by'] === this.bridge.link.welcome?.device;
    this.#endedHere = isOwn && card.classList.contains('deciding');
    if (this.#endedHere) return;
    const { project } = this.session.transcript;
    const words = `${outcome(end?.['decision'], end?.['by'])}: ${toolName(approval.toolName)} ${targetInFull(approval.toolName, approval.input, project)}`;
    announce(words);
    const fields = /** @type {(HTMLInputElement | HTMLTextAreaElement)[]} */ ([...card.querySelectorAll('textarea, input[type="text"]')]);
    const typed = fields.map(({ value }) => value.trim()).filter((text) => text !== '').join('\n');
    if (typed === '') return;
    const field = h('textarea', { class: 'field', rows: 2, 'aria-label': 'What you had typed', value: typed });
    const close = () => {
      const hadFocus = left.contains(document.activeElement);
      left.remove();
      if (hadFocus) this.to.leave(false);
    };
    const left = reveal(h('section', { class: 'left-over', 'aria-label': 'Decided elsewhere' },
      h('p', {}, icon('info'), h('span', {}, words)),
      field,
      h('div', { class: 'buttons end' },
        h('button', { class: 'button small', type: 'button', onclick: close }, 'Discard'),
        h('button', { class: 'button small', type: 'button', onclick: () => copy(field.value) }, 'Copy'),
        h('button', { class: 'button small', type: 'button', onclick: () => { close(); this.to.write(field.value); } }, 'Write as message'))));
    const hadFocus = card.contains(document.activeElement);
    this.left.append(left);
    if (!hadFocus) return;
    // Whoever types goes on here, where nothing is sent.
    field.focus({ preventScroll: true });
    field.setSelectionRange(typed.length, typed.length);
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
    if (card === undefined) this.to.leave(this.#endedHere);
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
      }, toolIcon(approval.toolName), h('span', {}, toolName(approval.toolName)), h('code', {}, targetInFull(approval.toolName, approval.input, project))))));
  }
}

/**
 * How a request ended, and where.
 *
 * @param {string | undefined} decision
 * @param {string | undefined} by
 */
function outcome(decision, by) {
  /** @type {Record<string, string>} */
  const words = { allowed: 'Allowed', allowed_always: 'Allowed', denied: 'Denied', answered: 'Answered', withdrawn: 'Withdrawn' };
  return `${words[decision ?? ''] ?? 'No longer asked'}${by === undefined ? '' : ` by ${by}`}`;
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

  /** The words of a message that waits, as somebody is changing them here. @param {Queued} input @returns {string} */
  wordsOf({ inputId, text }) {
    const typed = this.#editing.inputId === inputId ? this.#editing.form.querySelector('textarea')?.value ?? '' : '';
    return typed.trim() === '' ? text : typed;
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
