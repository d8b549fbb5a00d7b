// The list of sessions, kept fresh: asked for once, then the bridge tells what is different. No session is followed for it.

/** @import { SessionView } from '../types.js' */
/** @import { Bridge } from '../wire/bridge.js' */

import { Signal } from '../wire/signal.js';

/** What the bridge forgets is not told: the list is asked for again now and then. */
const ASK_EVERY = 60_000;

/** The sessions of the bridge. */
export class SessionList {
  /** @type {SessionView[]} */
  sessions = [];
  loaded = false;
  /** @type {Signal<void>} */
  changed = new Signal();

  /** @param {Bridge} bridge */
  constructor(bridge) {
    this.bridge = bridge;
    bridge.link.changed.on((state) => {
      if (state === 'open') void this.refresh();
    });
    bridge.link.message.on((message) => {
      if (message.type === 'session_changed') this.#take(message['session']);
    });
    setInterval(() => {
      if (document.visibilityState === 'visible') void this.refresh();
    }, ASK_EVERY);
  }

  /** @param {string} id */
  find(id) {
    return this.sessions.find((session) => session.id === id);
  }

  /** Asks now. */
  async refresh() {
    if (this.bridge.link.state !== 'open') return;
    try {
      this.sessions = await this.bridge.sessions();
      this.loaded = true;
      this.changed.tell();
    } catch {
      // The connection broke: it is asked again with the next one.
    }
  }

  /** @param {SessionView} session */
  #take(session) {
    const at = this.sessions.findIndex(({ id }) => id === session.id);
    const have = this.sessions[at];
    // An answer may overtake what was told before it.
    if (have !== undefined && have.seq > session.seq) return;
    if (at < 0) this.sessions.push(session);
    else this.sessions[at] = session;
    this.changed.tell();
  }
}
