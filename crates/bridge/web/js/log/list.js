// The list of sessions, kept fresh: the running ones are followed, and whatever happens in one makes the list be asked
// for again.

/** @import { SessionView } from '../types.js' */
/** @import { Bridge } from '../wire/bridge.js' */

import { Signal } from '../wire/signal.js';

/** Sessions that others start are found by asking now and then. */
const ASK_EVERY = 4_000;
/** What happens in a burst is asked for once. */
const SETTLE = 60;
/** How many sessions are followed at most. */
const FOLLOWED = 60;

/** What makes a list different. */
const NEWS = new Set([
  'status', 'permission_request', 'permission_resolved', 'result', 'session_state', 'session_renamed',
  'session_archived', 'assistant', 'user_input', 'system', 'mode_changed', 'model_changed',
]);

/** The sessions of the bridge. */
export class SessionList {
  /** @type {SessionView[]} */
  sessions = [];
  loaded = false;
  /** @type {Signal<void>} */
  changed = new Signal();

  /** @type {Set<string>} */
  #followed = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #due;
  #asking = false;
  #again = false;

  /** @param {Bridge} bridge */
  constructor(bridge) {
    this.bridge = bridge;
    bridge.link.changed.on((state) => {
      this.#followed.clear();
      if (state === 'open') void this.refresh();
    });
    bridge.link.message.on((message) => {
      if (message.sessionId !== undefined && message.requestId === undefined && NEWS.has(message.type)) this.soon();
    });
    setInterval(() => {
      if (document.visibilityState === 'visible') this.soon();
    }, ASK_EVERY);
  }

  /** @param {string} id */
  find(id) {
    return this.sessions.find((session) => session.id === id);
  }

  /** Asks before long. */
  soon() {
    if (this.#due !== undefined) return;
    this.#due = setTimeout(() => {
      this.#due = undefined;
      void this.refresh();
    }, SETTLE);
  }

  /** Asks now. */
  async refresh() {
    if (this.bridge.link.state !== 'open') return;
    if (this.#asking) {
      this.#again = true;
      return;
    }
    this.#asking = true;
    try {
      this.sessions = await this.bridge.sessions();
      this.loaded = true;
      this.#follow();
      this.changed.tell();
    } catch {
      // The connection broke: it is asked again with the next one.
    } finally {
      this.#asking = false;
      if (this.#again) {
        this.#again = false;
        this.soon();
      }
    }
  }

  #follow() {
    for (const session of this.sessions.slice(0, FOLLOWED)) {
      if (session.state !== 'running' || this.#followed.has(session.id)) continue;
      this.#followed.add(session.id);
      this.bridge.subscribe(session.id).catch(() => this.#followed.delete(session.id));
    }
  }
}
