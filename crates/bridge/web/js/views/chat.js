// One session: what was said, what waits for the user, and where to answer.

/** @import { App } from '../main.js' */
/** @import { Row } from '../log/rows.js' */
/** @import { Queued } from '../log/transcript.js' */
/** @import { Lifecycle } from '../types.js' */

import { announce, h, refill } from '../dom.js';
import { basename, beneath, count } from '../format.js';
import { icon } from '../icons.js';
import { Session } from '../log/session.js';
import { Composer } from '../parts/composer.js';
import { ApprovalDock, QueueDock } from '../parts/dock.js';
import { rowElement } from '../parts/row.js';
import { chooseSheet, confirmSheet, failed, sheet, toast } from '../parts/sheet.js';
import { StatusLine } from '../parts/status.js';
import { Tail } from '../parts/tail.js';
import { pathText } from '../parts/target.js';
import { WindowedRows } from '../window.js';
import { Refused } from '../wire/connection.js';
import { resume } from './start.js';

/** How much of the last words is read aloud at the end of a turn, in characters. */
const READ_ALOUD = 300;

/** The chat. */
export class ChatView {
  /** @type {(() => void)[]} */
  #leave = [];
  #drawing = false;
  #live = false;
  /** Waiting messages that are being taken back. @type {Map<string, Queued>} */
  #taking = new Map();
  /** What is said of a session whose CLI is gone. */
  #overShown = '';
  /** The position of the newest end of a turn that was read aloud, or was there before the reader. @type {number | undefined} */
  #ended;

  /**
   * @param {App} app
   * @param {string} id
   */
  constructor(app, id) {
    this.app = app;
    this.session = new Session(app.bridge, id);
    const { session } = this;
    this.title = h('h1', { class: 'chat-title', tabindex: -1 });
    this.place = h('p', { class: 'chat-place' });
    this.rows = h('div', { class: 'rows' });
    this.tail = new Tail(app, id);
    this.older = h('div', { class: 'older' });
    this.log = h('div', { class: 'chat-log', role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation', tabindex: 0 },
      h('h2', { class: 'unseen' }, 'Conversation'),
      h('div', { class: 'chat-column' }, this.older, this.rows, this.tail.element));
    this.down = h('button', { class: 'to-end', type: 'button', 'aria-label': 'Go to the newest message', onclick: () => this.list.toEnd() }, icon('down'));
    this.down.hidden = true;
    this.list = new WindowedRows(this.log, this.rows, (/** @type {Row} */ row) => this.#row(row), {
      top: () => void session.loadOlder(),
      follow: (following) => { this.down.hidden = following; },
    });
    this.approvals = new ApprovalDock(app.bridge, session, {
      leave: (wasHere) => { if (wasHere) this.focus(); else this.title.focus({ preventScroll: true }); },
      stop: async () => { const said = await this.#takeBack(); if (said !== '') toast(said); },
      write: (text) => { this.composer.takeBack([{ text, images: [] }]); this.composer.focus(); },
    });
    this.queue = new QueueDock(app.bridge, session, () => this.focus());
    this.status = new StatusLine(app.bridge, session);
    this.over = h('div', { class: 'gone-bar' });
    this.composer = new Composer({
      send: (text, images, delivery) => {
        app.outbox.say(id, text, images, delivery);
        this.list.toEnd();
      },
      isTooLarge: (text, images) => app.outbox.isTooLarge(text, images),
      interrupt: () => void this.#stop(),
      commands: () => session.transcript.commands,
      draftKey: id,
    });
    this.dock = h('div', { class: 'dock' }, h('div', { class: 'dock-column' },
      this.approvals.left, this.approvals.element, this.queue.element, this.over, this.composer.element, this.status.element));
    this.element = h('section', { class: 'chat', 'data-session': id, 'aria-label': 'Session' },
      h('header', { class: 'chat-head' },
        h('a', { class: 'icon-button back', href: '#/', 'aria-label': 'All sessions' }, icon('back')),
        h('div', { class: 'chat-names' }, this.title, this.place),
        h('span', { class: 'sync' }),
        h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Session menu', onclick: () => this.#menu() }, icon('more'))),
      h('div', { class: 'chat-body' }, this.log, this.down),
      this.dock);
    this.#leave.push(
      session.changed.on((what) => {
        // Not when it is drawn: what ends before the first drawing is news.
        if (session.loaded) this.#ended ??= app.started.has(id) ? 0 : session.transcript.lastEnd.seq;
        if (what === 'stream') this.#drawStream();
        else this.#later();
      }),
      app.list.changed.on(() => this.#later()),
      app.outbox.changed.on(() => this.#later()),
    );
    const clock = setInterval(() => this.tail.tick(), 1000);
    this.#leave.push(() => clearInterval(clock));
    void session.open();
    this.#draw();
  }

  /** Takes the focus, as the page has changed. */
  focus() {
    if (matchMedia('(pointer: fine)').matches) this.composer.focus();
    else this.title.focus({ preventScroll: true });
  }

  close() {
    for (const leave of this.#leave) leave();
    this.session.close();
  }

  /** Stops the running turn. Nothing is sent after it: what waits comes back to be written on. */
  async #stop() {
    try {
      const said = await this.#takeBack();
      await this.app.bridge.interrupt(this.session.id);
      if (said !== '') toast(said);
    } catch (error) {
      failed(error);
    }
  }

  /** Takes back what waits to be sent, into the composer. Gives words for it; none where nothing waits. */
  async #takeBack() {
    const { session, app } = this;
    const waiting = [...session.transcript.queue.values()].map((input) => ({ ...input, text: this.queue.wordsOf(input) }));
    if (waiting.length === 0) return '';
    /** @param {Queued} input */
    const cancel = async (input) => {
      this.#taking.set(input.inputId, input);
      try {
        await app.bridge.cancelInput(session.id, input.inputId);
      } catch (error) {
        // Without an answer the log will tell.
        if (!(error instanceof Refused)) throw error;
        this.#taking.delete(input.inputId);
        return false;
      }
      if (this.#taking.delete(input.inputId)) this.composer.takeBack([input]);
      return true;
    };
    let late = 0;
    // One after the other: they come back in their order.
    for (const input of waiting) if (!(await cancel(input))) late += 1;
    const back = waiting.length - late;
    return [
      back === 0 ? '' : `${count(back, 'waiting message')} not sent: back in the message field.`,
      late === 0 ? '' : `Too late for ${count(late, 'message')}: already sent.`,
    ].filter((words) => words !== '').join(' ');
  }

  /** What was to be taken back when the connection broke: the log tells what became of it. */
  #settleTaking() {
    const { queue, rows } = this.session.transcript;
    for (const [inputId, input] of this.#taking) {
      if (this.app.link.state !== 'open' || queue.has(inputId)) continue;
      this.#taking.delete(inputId);
      if (!rows.some((row) => row.kind === 'user' && row.inputId === inputId)) this.composer.takeBack([input]);
    }
  }

  #later() {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      this.#draw();
    });
  }

  #drawStream() {
    this.tail.update(this.session);
  }

  #draw() {
    const { session, app } = this;
    const view = app.list.find(session.id);
    const { transcript } = session;
    const project = transcript.project ?? view?.projectPath;
    this.title.textContent = transcript.title ?? view?.title ?? (project === undefined ? 'Session' : basename(project));
    const devices = new Set(session.devices).size;
    const others = devices > 1 ? count(devices, 'device') : '';
    const path = project === undefined ? undefined : beneath(project, app.link.welcome?.roots ?? []);
    const further = [view?.branch, others].filter((part) => part !== undefined && part !== '').join(' · ');
    refill(this.place, path === undefined ? null : pathText(path), path === undefined || further === '' ? null : h('span', {}, ' · '), further === '' ? null : h('span', {}, further));
    this.place.title = [project ?? '', ...session.devices].join(', ');
    for (const message of app.outbox.of(session.id)) {
      if (transcript.clientMessages.has(message.clientMessageId)) app.outbox.drop(message.clientMessageId);
    }
    const gone = session.loaded && session.state !== 'running';
    // Why a session is gone is told where it can be resumed.
    refill(this.older, session.problem !== undefined && !gone ? h('p', { class: 'problem' }, session.problem)
      : session.hasOlder ? h('p', { class: 'muted small' }, 'Older messages…') : null);
    const running = session.status !== 'idle' && session.state === 'running';
    if (running !== this.#live) {
      this.#live = running;
      // Calls without a result run, or never came to their end.
      for (const row of transcript.rows) if (row.kind === 'tools' && row.calls.some((call) => call.result === undefined)) row.rev += 1;
    }
    this.list.set(transcript.rows);
    this.tail.update(session);
    this.approvals.update();
    this.#settleTaking();
    this.queue.update();
    this.status.update(view);
    this.composer.setRunning(running);
    // Before the bridge has said what this device may do, the field is there: it may have the focus, and a draft.
    this.composer.element.hidden = gone || app.bridge.mayNot('input');
    this.element.classList.toggle('has-approval', session.approvals.length > 0);
    this.#drawOver(gone ? session.state : 'running');
    this.#announce();
  }

  /** What can be done with a session whose CLI is gone. @param {Lifecycle} state */
  #drawOver(state) {
    const { session, app } = this;
    const words = state === 'ended' ? 'This session has ended.' : session.problem ?? 'This session was interrupted.';
    const shown = state === 'running' ? '' : words;
    if (this.#overShown === shown) return;
    this.#overShown = shown;
    refill(this.over, shown === '' ? null : h('div', { class: 'gone' },
      h('span', {}, shown),
      h('a', { class: 'button small', href: `#/replay/${encodeURIComponent(session.id)}` }, icon('history'), 'Replay'),
      app.bridge.may('input') ? h('button', { class: 'button small primary', type: 'button', onclick: () => resume(app, session.id, session.transcript.project ?? '') }, icon('play'), 'Resume') : null));
  }

  /**
   * A screen reader is not read every word as it comes, but what was said in the end. The log tells of that end: the status
   * may have come and gone between two drawings.
   */
  #announce() {
    const { lastEnd } = this.session.transcript;
    if (this.#ended === undefined || lastEnd.seq <= this.#ended) return;
    this.#ended = lastEnd.seq;
    announce(`${lastEnd.how}. ${lastEnd.said.slice(0, READ_ALOUD)}`);
  }

  /** @param {Row} row */
  #row(row) {
    return rowElement(row, {
      project: this.session.transcript.project,
      base: this.app.link.base,
      live: this.#live,
      cost: (dollars) => this.app.bridge.cost(dollars),
    });
  }

  #menu() {
    const { session, app } = this;
    const may = (/** @type {string} */ scope) => app.bridge.may(scope);
    const archived = session.transcript.archived;
    chooseSheet('Session', [
      ...(may('configure') ? [{ name: 'Rename', icon: 'pencil', pick: () => this.#rename() }] : []),
      ...(may('configure') && session.state === 'running' ? this.status.choices : []),
      { name: 'Replay', what: 'Watch it again from the start', icon: 'history', pick: () => app.go(`#/replay/${encodeURIComponent(session.id)}`) },
      ...(may('configure') ? [{
        name: archived ? 'Unarchive' : 'Archive', what: archived ? 'Shows it in the list again' : 'Removes it from the list', icon: 'archive',
        pick: () => void app.bridge.archive(session.id, !archived).then(() => { if (!archived) app.go('#/'); }, failed),
      }] : []),
      ...(may('input') && session.state === 'running' ? [{
        name: 'End session', what: 'Stops the agent; you can resume it', icon: 'stop', danger: true,
        pick: () => confirmSheet('End this session?', 'Running work stops. You can resume the session later.', 'End session', () => void app.bridge.stop(session.id).catch(failed)),
      }] : []),
    ]);
  }

  #rename() {
    const field = h('input', { class: 'field', type: 'text', 'aria-label': 'Title', value: this.title.textContent ?? '', maxlength: 120 });
    sheet('Rename session', (close) => [h('form', {
      class: 'stack',
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (field.value.trim() !== '') this.app.bridge.rename(this.session.id, field.value.trim()).catch(failed);
        close();
      },
    }, field, h('div', { class: 'buttons end' }, h('button', { class: 'button primary', type: 'submit' }, 'Rename')))]);
    field.select();
  }
}
