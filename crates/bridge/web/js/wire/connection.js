// The WebSocket: kept open, or opened again, for as long as the page lives.

/** @import { Message, Welcome } from '../types.js' */

import { credential, fetchAs } from './credential.js';
import { Signal } from './signal.js';

/**
 * How often the page asks whether the bridge is there, as browsers cannot send the WebSocket's own ping: often while somebody uses
 * it, less often while it only lies there, seldom while it is hidden. What the bridge says by itself counts as an answer.
 */
const PING_EVERY = { used: 2_000, seen: 10_000, hidden: 15_000 };
/** So long after the last touch or key the page counts as used. */
const USED = 60_000;
/** How long an answer may take before the page no longer says that it is live. */
const ANSWER_WITHIN = 1_000;

/** How old a decision may be when the bridge gets it, in milliseconds: a network that comes back delivers what it held. */
const DECISION_LIVES = 10_000;
/** How long an answer may take before the connection is taken for dead. */
const PATIENCE = 8_000;
/** The waits between attempts to connect; the last one repeats. */
const WAITS = [200, 500, 1000, 2000, 4000, 8000];
/** The bridge closes with this when the device was revoked. */
const REVOKED = 4401;
/** And with this when a message was too long. */
const TOO_LONG = 1009;

/** @typedef {'connecting' | 'open' | 'unpaired'} LinkState */

/** The bridge could not do what it was asked. */
export class Refused extends Error {
  /**
   * @param {string} message
   * @param {string} code
   */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** The connection broke before the answer came. Whether the bridge heard is not known. */
export class Lost extends Error {
  /** @param {boolean} [isTooLong] whether it broke because of a message that was too long */
  constructor(isTooLong = false) {
    super('The connection broke before the bridge answered.');
    this.isTooLong = isTooLong;
  }
}

/** The way to the bridge. */
export class Connection {
  /** @type {LinkState} */
  state = 'connecting';
  /** When something was last heard. */
  heardAt = 0;
  /** Since when there is no connection; 0 while there is one. */
  downSince = Date.now();
  /** @type {Welcome | null} */
  welcome = null;
  /** Since when the bridge owes an answer, though the connection may still live; 0 while it owes none. */
  silentSince = 0;
  /** Why the bridge does not know this browser, if it has said so. @type {'' | 'revoked' | 'updated' | 'incomplete'} */
  unpairedBecause = '';

  /** Every message of the bridge. @type {Signal<Message>} */
  message = new Signal();
  /** The state has changed. @type {Signal<LinkState>} */
  changed = new Signal();
  /** Whether the bridge is silent has changed. @type {Signal<void>} */
  pulse = new Signal();

  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Map<string, {resolve: (reply: Message) => void, reject: (error: Error) => void}>} */
  #waiting = new Map();
  #requests = 0;
  /** The bridge's clock less `performance.now()`, in milliseconds. */
  #clock = NaN;
  #wanted = false;
  #attempt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #deadline;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #silence;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #next;
  #usedAt = Date.now();
  #askedAt = 0;

  /** @param {URL} base where the page is */
  constructor(base) {
    this.base = base;
    this.#pingLater(PING_EVERY.used);
    for (const kind of ['pointerdown', 'keydown', 'wheel', 'touchmove']) {
      addEventListener(kind, () => this.#used(), { passive: true, capture: true });
    }
    addEventListener('online', () => this.hurry());
    // A bridge on this very machine is there although the network is not: ask it.
    addEventListener('offline', () => this.#ping());
    document.addEventListener('visibilitychange', () => {
      this.tellVisible();
      if (document.visibilityState === 'visible') this.hurry();
    });
    addEventListener('pageshow', () => this.hurry());
  }

  /** Connects now. */
  open() {
    this.#wanted = true;
    this.unpairedBecause = '';
    if (this.state === 'unpaired') this.#become('connecting');
    clearTimeout(this.#retry);
    this.#socket?.close();
    const own = credential(this.base);
    const url = new URL(`${own?.path ?? ''}ws`, this.base);
    url.protocol = url.protocol.replace('http', 'ws');
    // A browser lets a page set no headers here, but subprotocols.
    const socket = own === null ? new WebSocket(url) : new WebSocket(url, ['pilothouse', `page.${own.secret}`]);
    this.#socket = socket;
    this.#expect(socket);
    socket.onopen = () => {
      this.request({ type: 'hello', protocol: 1, client: 'page' }).then(
        (welcome) => this.#welcomed(socket, /** @type {any} */ (welcome)),
        () => socket.close(),
      );
    };
    socket.onmessage = (event) => this.#heard(socket, String(event.data));
    socket.onclose = (event) => this.#closed(socket, event.code);
  }

  /**
   * A request besides the WebSocket, as this device.
   *
   * @param {string} path
   * @param {RequestInit} [how]
   */
  fetch(path, how) {
    return fetchAs(this.base, path, how);
  }

  /** When a decision that is sent now is too old to count, by the bridge's clock; unknown before the first pong. */
  get expiry() {
    return Number.isFinite(this.#clock) ? Math.round(performance.now() + this.#clock) + DECISION_LIVES : undefined;
  }

  /** Whether the bridge is there, as far as anybody can know. */
  get isLive() {
    return this.state === 'open' && this.silentSince === 0;
  }

  /** Tries again at once instead of waiting, or looks whether the connection still lives. */
  hurry() {
    if (!this.#wanted) return;
    if (this.state === 'open') this.#ping();
    else if (this.state === 'connecting' && this.#socket?.readyState !== WebSocket.CONNECTING) {
      this.#attempt = 0;
      this.open();
    }
  }

  /**
   * Says something that nobody answers.
   *
   * @param {{type: string, [member: string]: any}} message
   */
  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /**
   * Asks, and gives the answer.
   *
   * @param {{type: string, [member: string]: any}} message
   * @returns {Promise<Message>}
   */
  request(message) {
    return new Promise((resolve, reject) => {
      if (this.#socket?.readyState !== WebSocket.OPEN) {
        reject(new Lost());
        return;
      }
      const requestId = `p${(this.#requests += 1)}`;
      this.#waiting.set(requestId, { resolve, reject });
      this.#socket.send(JSON.stringify({ ...message, requestId }));
    });
  }

  /**
   * Asks until there is an answer, over the next connection if this one breaks: for what the bridge does once, however often
   * it is asked.
   *
   * @param {{type: string, clientMessageId?: string, [member: string]: any}} message
   * @param {AbortSignal} [signal] nobody waits any more
   * @returns {Promise<Message>}
   */
  async insist(message, signal) {
    for (;;) {
      try {
        return await this.request(message);
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
      }
      await this.#opened(signal);
    }
  }

  /** The next connection. @param {AbortSignal | undefined} signal @returns {Promise<void>} */
  #opened(signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true || this.state === 'unpaired') {
        reject(new Lost());
        return;
      }
      const done = this.changed.on((state) => {
        if (state === 'connecting') return;
        done();
        if (state === 'open') resolve();
        else reject(new Lost());
      });
      signal?.addEventListener('abort', () => {
        done();
        reject(new Lost());
      });
    });
  }

  /** Tells the bridge whether somebody looks: then it need not notify. */
  tellVisible() {
    if (this.state === 'open') this.send({ type: 'visible', visible: document.visibilityState === 'visible' });
  }

  /**
   * @param {WebSocket} socket
   * @param {Welcome} welcome
   */
  #welcomed(socket, welcome) {
    if (socket !== this.#socket) return;
    this.welcome = welcome;
    this.#attempt = 0;
    this.downSince = 0;
    this.#become('open');
    this.tellVisible();
    this.#ping();
  }

  /**
   * @param {WebSocket} socket
   * @param {string} text
   */
  #heard(socket, text) {
    if (socket !== this.#socket) return;
    this.#forgive();
    this.heardAt = Date.now();
    /** @type {Message} */
    const message = JSON.parse(text);
    if (message.type === 'pong') this.#clock = Number(message['now']) - performance.now();
    const waiting = message.requestId === undefined ? undefined : this.#waiting.get(message.requestId);
    if (waiting !== undefined && message.requestId !== undefined) {
      this.#waiting.delete(message.requestId);
      if (message.type === 'error') {
        waiting.reject(new Refused(String(message['message']), String(message['errorCode'])));
        return;
      }
      // What an answer changes is there before whoever asked goes on.
      this.message.tell(message);
      waiting.resolve(message);
      return;
    }
    this.message.tell(message);
  }

  /**
   * @param {WebSocket} socket
   * @param {number} code
   */
  #closed(socket, code) {
    if (socket !== this.#socket) return;
    this.#forgive();
    this.#socket = null;
    if (this.downSince === 0) this.downSince = Date.now();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new Lost(code === TOO_LONG));
    if (code === REVOKED) {
      this.unpairedBecause = 'revoked';
      this.#become('unpaired');
      return;
    }
    this.#become('connecting');
    void this.#again();
  }

  /** Waits and connects again, unless the bridge says that it does not know us. */
  async #again() {
    const wait = WAITS[Math.min(this.#attempt, WAITS.length - 1)] ?? 8000;
    const first = this.#attempt === 0;
    this.#attempt += 1;
    // A browser does not tell a page why a WebSocket was refused, but it tells it of a plain request.
    if (!first || this.heardAt === 0) {
      const known = await this.#isKnown();
      if (known === false) {
        this.#become('unpaired');
        return;
      }
    }
    if (this.#socket !== null) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.open(), wait * (0.8 + 0.4 * Math.random()));
  }

  /** Whether the bridge knows this device; nothing when it cannot be asked. */
  async #isKnown() {
    try {
      const answer = await this.fetch('metrics', { cache: 'no-store' });
      if (answer.status !== 401) return answer.ok ? true : undefined;
      const why = await answer.text();
      this.unpairedBecause = why.includes('revoked') ? 'revoked' : why.includes('updated') ? 'updated' : why.includes('lost a part') ? 'incomplete' : '';
      return false;
    } catch {
      return undefined;
    }
  }

  /** @param {number} wait in milliseconds */
  #pingLater(wait) {
    clearTimeout(this.#next);
    this.#next = setTimeout(() => this.#tick(), wait);
  }

  /** Asks if nothing was heard for long enough, and comes back when that may be so. */
  #tick() {
    const now = Date.now();
    const every = document.visibilityState !== 'visible' ? PING_EVERY.hidden : now - this.#usedAt < USED ? PING_EVERY.used : PING_EVERY.seen;
    const quiet = now - Math.max(this.heardAt, this.#askedAt);
    if (quiet >= every) this.#ping();
    this.#pingLater(quiet >= every ? every : every - quiet);
  }

  /** Somebody is here: after a while without, what is shown is checked at once. */
  #used() {
    const wasIdle = Date.now() - this.#usedAt >= USED;
    this.#usedAt = Date.now();
    if (wasIdle) this.#tick();
  }

  #ping() {
    if (this.state !== 'open' || this.#socket === null) return;
    this.#askedAt = Date.now();
    this.send({ type: 'ping' });
    this.#expect(this.#socket);
    this.#silence ??= setTimeout(() => this.#hush(true), ANSWER_WITHIN);
  }

  /** Something was heard, or there is nothing to hear any more. */
  #forgive() {
    clearTimeout(this.#deadline);
    clearTimeout(this.#silence);
    this.#deadline = undefined;
    this.#silence = undefined;
    this.#hush(false);
  }

  /** @param {boolean} silent */
  #hush(silent) {
    if (silent === (this.silentSince !== 0)) return;
    this.silentSince = silent ? Date.now() : 0;
    this.pulse.tell();
  }

  /** From now on something must be heard before long. @param {WebSocket} socket */
  #expect(socket) {
    if (this.#deadline !== undefined) return;
    this.#deadline = setTimeout(() => {
      this.#deadline = undefined;
      // A dead connection takes its time to close: let go of it at once.
      socket.close();
      this.#closed(socket, 1006);
    }, PATIENCE);
  }

  /** @param {LinkState} state */
  #become(state) {
    if (this.state === state) return;
    this.state = state;
    this.changed.tell(state);
  }
}
