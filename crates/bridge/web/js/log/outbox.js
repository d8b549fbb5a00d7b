// What the user said and the bridge has not taken yet. It is sent until it is taken; the bridge runs it once however
// often it comes. It outlives a reload.

/** @import { Delivery, Image } from '../types.js' */
/** @import { Bridge } from '../wire/bridge.js' */

import { Lost, Refused } from '../wire/connection.js';
import { Signal } from '../wire/signal.js';
import { freshId } from '../wire/bridge.js';

const PLACE = 'pilothouse.outbox';

/** What the bridge takes unless it says otherwise, and how much of that goes around a message. */
const USUAL = 8 * 1024 * 1024;
const AROUND = 1024;

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

  /**
   * Whether a message is more than the bridge takes: it would hang up, each time that it is sent again.
   *
   * @param {string} text
   * @param {Image[]} images
   */
  isTooLarge(text, images) {
    const largest = this.bridge.link.welcome?.messageBytes ?? USUAL;
    return new TextEncoder().encode(JSON.stringify({ text, images })).length > largest - AROUND;
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
    // It may have waited for a bridge that takes less than the one that it was written for.
    if (this.isTooLarge(message.text, message.images)) return this.#refused(message, TOO_LARGE);
    this.#sending.add(message.clientMessageId);
    try {
      await this.bridge.input(sessionId, input);
      this.drop(message.clientMessageId);
    } catch (error) {
      // Without a connection it waits for the next one; what the bridge refused waits for the user.
      if (error instanceof Refused) this.#refused(message, error.message);
      else if (error instanceof Lost && error.isTooLong) this.#refused(message, TOO_LARGE);
    } finally {
      this.#sending.delete(message.clientMessageId);
    }
  }

  /**
   * @param {Outgoing} message
   * @param {string} why
   */
  #refused(message, why) {
    message.problem = why;
    this.#keep();
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

/** What to do about a message that is too large. */
export const TOO_LARGE = 'Too large for one message: send less text or fewer pictures.';
