// One session, as far as the page has it: a stretch of its log without holes, and what is only true for the moment.

/** @import { Approval, Lifecycle, LogEvent, Message, Status } from '../types.js' */
/** @import { Bridge } from '../wire/bridge.js' */

import { Refused } from '../wire/connection.js';
import { Signal } from '../wire/signal.js';
import { Transcript, fold } from './transcript.js';

/** How many events the page asks for at a time. */
const PAGE = 200;

/** The shortest time between two questions for the words that are being written. */
const RENDER_EVERY = 100;

/** Nothing is being written. @returns {{text: string, thinking: string, html?: string, rendered: number}} */
function freshStream() {
  return { text: '', thinking: '', rendered: 0 };
}

/** One session. */
export class Session {
  /** @type {LogEvent[]} */
  events = [];
  transcript = new Transcript();
  /** Words that are still being written. */
  stream = freshStream();
  /** @type {Status} */
  status = 'idle';
  /** @type {Lifecycle} */
  state = 'running';
  /** @type {string[]} */
  devices = [];
  /** Why the session cannot be shown. @type {string | undefined} */
  problem;
  hasOlder = false;
  /** Whether its newest page has come. */
  loaded = false;
  /** Something is different. `stream` when only the words being written are. @type {Signal<'all' | 'stream'>} */
  changed = new Signal();

  /** Where it works, as the bridge says: the log may say so only on an older page. @type {string | undefined} */
  #project;
  #closed = false;
  #loadingOlder = false;
  #rendering = false;
  /** Whether the bridge is asked for what was missed, so that nothing newer may be taken yet. */
  #joining = true;
  /** @type {(() => void)[]} */
  #leave = [];

  /**
   * @param {Bridge} bridge
   * @param {string} id
   */
  constructor(bridge, id) {
    this.bridge = bridge;
    this.id = id;
    this.#leave.push(
      bridge.link.message.on((message) => this.#heard(message)),
      bridge.link.changed.on((state) => {
        if (state === 'open') void this.#join();
        else this.#joining = true;
      }),
    );
  }

  /** What the log itself may not say. */
  get around() {
    return { agent: this.bridge.agent, project: this.#project };
  }

  /** The newest position. */
  get seq() {
    return this.events.at(-1)?.seq ?? 0;
  }

  /**
   * The open approvals, oldest first. A session without a CLI waits for nothing, also where the log does not have its end.
   *
   * @returns {Approval[]}
   */
  get approvals() {
    return this.state === 'running' ? [...this.transcript.approvals.values()] : [];
  }

  /** Asks for the newest page, and follows from there. */
  open() {
    return this.bridge.link.state === 'open' ? this.#join() : Promise.resolve();
  }

  /** Follows no longer. */
  close() {
    this.#closed = true;
    for (const leave of this.#leave) leave();
    this.bridge.unsubscribe(this.id);
  }

  /** Asks for the page before the oldest that is here. Tells whether there was one. */
  async loadOlder() {
    const first = this.events[0];
    if (!this.hasOlder || this.#loadingOlder || first === undefined) return false;
    this.#loadingOlder = true;
    try {
      const page = await this.bridge.history(this.id, PAGE, first.seq);
      if (this.events[0] !== first) return false;
      this.events = [...page['messages'], ...this.events];
      this.hasOlder = page['hasMore'];
      this.#refold();
      return true;
    } catch {
      // The connection broke; the reader scrolls again.
      return false;
    } finally {
      this.#loadingOlder = false;
    }
  }

  /** Asks for everything there is, for a replay. @param {(have: number) => void} [progress] */
  async loadAll(progress) {
    while (this.hasOlder && (await this.loadOlder())) progress?.(this.events.length);
  }

  async #join() {
    this.#joining = true;
    try {
      if (!this.loaded) {
        const page = await this.bridge.history(this.id, PAGE);
        // Whoever has left meanwhile must not come back as a reader.
        if (this.#closed) return;
        this.events = page['messages'];
        this.hasOlder = page['hasMore'];
        this.loaded = true;
        this.#refold();
      }
      await this.bridge.subscribe(this.id, this.seq);
      this.problem = undefined;
    } catch (error) {
      // A broken connection is opened again, and everything is asked again.
      if (error instanceof Refused) this.problem = error.message;
    }
    this.changed.tell('all');
  }

  /** The bridge goes on from where this page is, or from the beginning. @param {Message} reply */
  #subscribed(reply) {
    if (reply['continuity'] === 'gap') {
      // The log does not reach back to what is here: what follows is all there is.
      this.events = [];
      this.hasOlder = false;
      this.transcript.approvals.clear();
      this.#refold();
    } else if (reply['since'] !== this.seq) {
      // It was asked twice, and the other answer came first.
      return;
    }
    this.#joining = false;
    // What was being written may be done by now; if not, a snapshot follows.
    this.stream = freshStream();
    const view = reply['session'];
    this.#project = view.projectPath;
    if (this.transcript.project === undefined) {
      this.#refold();
      // Paths are shown as seen from there.
      for (const row of this.transcript.rows) row.rev += 1;
    }
    this.status = view.status;
    this.state = view.state;
    // An approval may be older than the page that is here.
    for (const approval of view.approvals) {
      if (this.transcript.approvals.get(approval.id)?.digest !== approval.digest || approval.digest === undefined) this.transcript.approvals.set(approval.id, approval);
    }
  }

  /** @param {Message} message */
  #heard(message) {
    if (message.sessionId !== this.id || message.type === 'history') return;
    switch (message.type) {
      case 'subscribed':
        return this.#subscribed(message);
      case 'status':
        this.status = message['status'];
        return this.changed.tell('all');
      case 'error':
        return this.#broke(message);
      case 'approval_reply':
        return this.#answered(message);
      case 'presence':
        this.devices = message['devices'];
        return this.changed.tell('all');
      case 'stream_snapshot':
        this.stream = { ...freshStream(), text: message['text'], thinking: message['thinking'] };
        void this.#render();
        return this.changed.tell('stream');
      case 'stream_delta':
        return this.#delta('text', message);
      case 'thinking_delta':
        return this.#delta('thinking', message);
      default:
        if (typeof message['seq'] === 'number' && typeof message['at'] === 'number') {
          this.#event(/** @type {LogEvent} */ (message));
        }
    }
  }

  /** The log could not be written: that ends the session, and no event tells of it. @param {Message} message */
  #broke(message) {
    if (message['errorCode'] !== 'storage') return;
    this.problem = String(message['message']);
    this.state = 'interrupted';
    this.changed.tell('all');
  }

  /** There is nothing to decide where something seemed to be: what would have said so never came. @param {Message} message */
  #answered(message) {
    if (message['status'] === 'gone' && this.transcript.approvals.delete(message['id'])) this.changed.tell('all');
  }

  /**
   * @param {'text' | 'thinking'} kind
   * @param {Message} message
   */
  #delta(kind, message) {
    const have = this.stream[kind];
    // Words that were missed come again as a snapshot.
    if (message['offset'] > have.length) return;
    this.stream[kind] = have.slice(0, message['offset']) + message['text'];
    if (kind === 'text') void this.#render();
    this.changed.tell('stream');
  }

  /** Asks for the words so far as HTML: one question at a time, the longer the words the fewer. */
  async #render() {
    if (this.#rendering) return;
    this.#rendering = true;
    try {
      for (let { stream } = this; stream.text.length > stream.rendered; { stream } = this) {
        const { length, rendered } = /** @type {any} */ (await this.bridge.stream(this.id));
        if (length > 0) Object.assign(stream, { html: rendered, rendered: Math.max(length, stream.rendered) });
        this.changed.tell('stream');
        await new Promise((resolve) => { setTimeout(resolve, Math.max(RENDER_EVERY, stream.text.length / 20)); });
      }
    } catch {
      // The connection broke. The words are shown as they came, and asked for again with the next ones.
    }
    this.#rendering = false;
  }

  /** @param {LogEvent} event */
  #event(event) {
    // Everything comes in order; what is here already is not taken twice, and nothing is taken over a hole.
    if (this.#joining || event.seq <= this.seq) return;
    if (this.seq !== 0 && event.seq !== this.seq + 1) {
      void this.#join();
      return;
    }
    this.events.push(event);
    this.transcript.apply(event);
    const isOver = event.type === 'result' || event.type === 'partial';
    if (isOver || (event.type === 'assistant' && event['parentToolUseId'] === undefined)) {
      this.stream = freshStream();
    }
    if (event.type === 'session_state') {
      this.state = event['state'];
      if (this.state === 'running') this.problem = undefined;
    }
    if (event.type === 'result' && event['subtype'] === 'stopped') this.state = 'ended';
    this.changed.tell('all');
  }

  #refold() {
    const approvals = this.transcript.approvals;
    this.transcript = fold(this.events, this.around);
    // Those that are older than the oldest page are still open: the bridge said so, and an event would have ended them.
    for (const [id, approval] of approvals) {
      const ended = this.events.some((event) => event.type === 'permission_resolved' && event['id'] === id);
      if (!ended && !this.transcript.approvals.has(id)) this.transcript.approvals.set(id, approval);
    }
    this.changed.tell('all');
  }
}
