// What the user said and the bridge has not taken yet. It is sent until it is taken; the bridge runs it once however
// often it comes. It outlives a reload.

/** @import { Delivery, Image } from '../types.js' */
/** @import { Bridge } from '../wire/bridge.js' */

import { Refused } from '../wire/connection.js';
import { Signal } from '../wire/signal.js';
import { freshId } from '../wire/bridge.js';

const PLACE = 'pilothouse.outbox';

/** The bridge takes 8 MiB; the rest is for what goes around a message. */
const LARGEST = 8 * 1024 * 1024 - 64 * 1024;

/**
 * @typedef {object} Outgoing
 * @property {string} sessionId
 * @property {string} clientMessageId
 * @property {string} text
 * @property {Image[]} images
 * @property {Delivery} delivery
 * @property {string} [problem] why the bridge refused it
 */

/** Messages on their way. */
export class Outbox {
  /** @type {Outgoing[]} */
  messages = [];
  /** @type {Signal<void>} */
  changed = new Signal();
  /** @type {Set<string>} */
  #sending = new Set();

  /** @param {Bridge} bridge */
  constructor(bridge) {
    this.bridge = bridge;
    try {
      this.messages = JSON.parse(sessionStorage.getItem(PLACE) ?? '[]');
    } catch {
      this.messages = [];
    }
    bridge.link.changed.on((state) => {
      if (state === 'open') for (const message of this.messages) void this.#send(message);
    });
  }

  /** @param {string} sessionId */
  of(sessionId) {
    return this.messages.filter((message) => message.sessionId === sessionId);
  }

  /**
   * @param {string} sessionId
   * @param {string} text
   * @param {Image[]} images
   * @param {Delivery} delivery
   */
  say(sessionId, text, images, delivery) {
    /** @type {Outgoing} */
    const message = { sessionId, clientMessageId: freshId(), text, images, delivery };
    this.messages.push(message);
    this.#keep();
    void this.#send(message);
  }

  /** Sends again what was refused. @param {Outgoing} message */
  retry(message) {
    delete message.problem;
    this.#keep();
    void this.#send(message);
  }

  /** Takes a message back that was refused, or forgets one that is in the log. @param {string} clientMessageId */
  drop(clientMessageId) {
    const left = this.messages.filter((message) => message.clientMessageId !== clientMessageId);
    if (left.length === this.messages.length) return;
    this.messages = left;
    this.#keep();
  }

  /** @param {Outgoing} message */
  async #send(message) {
    const { sessionId, problem, ...input } = message;
    if (problem !== undefined || this.#sending.has(message.clientMessageId)) return;
    this.#sending.add(message.clientMessageId);
    try {
      await this.bridge.input(sessionId, input);
      this.drop(message.clientMessageId);
    } catch (error) {
      // Without a connection it waits for the next one; what the bridge refused waits for the user.
      if (error instanceof Refused) {
        message.problem = error.message;
        this.#keep();
      }
    } finally {
      this.#sending.delete(message.clientMessageId);
    }
  }

  #keep() {
    try {
      sessionStorage.setItem(PLACE, JSON.stringify(this.messages));
    } catch {
      // Pictures may be too large to be kept; then a reload loses what was never sent, which it always did.
    }
    this.changed.tell();
  }
}

/**
 * Whether a message is more than the bridge takes: it would hang up, each time that it is sent again.
 *
 * @param {string} text
 * @param {Image[]} images
 */
export function isTooLarge(text, images) {
  return new TextEncoder().encode(JSON.stringify({ text, images })).length > LARGEST;
}

/** What to do about that. */
export const TOO_LARGE = 'This is more than one message can carry: send less text or fewer pictures.';
