// What the page asks of the bridge, in its own words.

/** @import { Approval, Delivery, Image, Message, ProjectReview, RecentSession, SessionView } from '../types.js' */
/** @import { Connection } from './connection.js' */

import { cost } from '../format.js';

/** A name that nobody else gives. */
export function freshId() {
  // `randomUUID` is only there on secure pages; a bridge in the local network may not be one.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Commands and questions, over one connection. */
export class Bridge {
  /** @param {Connection} link */
  constructor(link) {
    this.link = link;
  }

  /** Whether this device may do something. @param {string} scope */
  may(scope) {
    return this.link.welcome?.scopes.includes(scope) ?? false;
  }

  /** Whether it is known that this device may not do something: without a connection nobody has said so yet. @param {string} scope */
  mayNot(scope) {
    return this.link.welcome !== null && !this.may(scope);
  }

  /** What runs in sessions: `claude`, the bridge's own agent, or that with a script for a model. */
  get agent() {
    return this.link.welcome?.agent?.kind ?? 'claude';
  }

  /** What a session has cost, in words; nothing where a script plays the model. @param {number | undefined} dollars */
  cost(dollars) {
    return this.agent === 'demo' ? '' : cost(dollars);
  }

  /** @returns {Promise<SessionView[]>} */
  async sessions() {
    const reply = await this.link.request({ type: 'list_sessions', includeEnded: true, watch: true });
    return reply['sessions'];
  }

  /**
   * @param {{search?: string, offset?: number, limit?: number}} asked
   * @returns {Promise<{sessions: RecentSession[], hasMore: boolean}>}
   */
  async recent(asked) {
    const reply = await this.link.request({ type: 'list_recent_sessions', ...asked });
    return { sessions: reply['sessions'], hasMore: reply['hasMore'] };
  }

  /**
   * @param {{projectPath: string, permissionMode?: string, model?: string}} wanted
   * @param {AbortSignal} [signal] nobody waits for it any more
   * @returns {Promise<string>}
   */
  async start(wanted, signal) {
    const reply = await this.link.insist({ type: 'start', ...wanted, clientMessageId: freshId() }, signal);
    return String(reply.sessionId);
  }

  /**
   * What the files of a project would run and allow.
   *
   * @param {string} projectPath
   * @param {AbortSignal} [signal] nobody waits for it any more
   * @returns {Promise<ProjectReview>}
   */
  async review(projectPath, signal) {
    return /** @type {any} */ (await this.link.insist({ type: 'review_project', projectPath }, signal));
  }

  /**
   * Lets the files of a project do what a review has shown.
   *
   * @param {string} projectPath
   * @param {string} digest
   */
  trust(projectPath, digest) {
    return this.link.request({ type: 'trust_project', projectPath, digest });
  }

  /**
   * @param {string} sessionId
   * @param {string} projectPath
   * @param {'attach' | 'fork' | 'take_over' | 'refuse'} lease
   * @returns {Promise<string>}
   */
  async resume(sessionId, projectPath, lease) {
    // A copy that is asked for again after the connection broke must not become two.
    const reply = await this.link.insist({ type: 'resume_session', sessionId, projectPath, lease, clientMessageId: freshId() });
    return String(reply.sessionId);
  }

  /**
   * @param {string} sessionId
   * @param {number} limit
   * @param {number} [before]
   */
  history(sessionId, limit, before) {
    return this.link.request({ type: 'get_history', sessionId, limit, ...(before === undefined ? {} : { before }) });
  }

  /**
   * @param {string} sessionId
   * @param {number} [since]
   */
  subscribe(sessionId, since) {
    return this.link.request({ type: 'subscribe', sessionId, ...(since === undefined ? {} : { since }) });
  }

  /** What the model is writing, as HTML. @param {string} sessionId */
  stream(sessionId) {
    return this.link.request({ type: 'get_stream', sessionId });
  }

  /** @param {string} sessionId */
  unsubscribe(sessionId) {
    this.link.send({ type: 'unsubscribe', sessionId });
  }

  /**
   * @param {string} sessionId
   * @param {{text: string, images: Image[], delivery: Delivery, clientMessageId: string}} input
   */
  input(sessionId, input) {
    return this.link.request({ type: 'input', sessionId, ...input });
  }

  /**
   * @param {string} sessionId
   * @param {Approval} approval
   */
  approve(sessionId, approval) {
    return this.link.request({ type: 'approve', sessionId, ...this.#shown(approval) });
  }

  /**
   * @param {string} sessionId
   * @param {Approval} approval
   * @param {number[]} suggestions
   * @param {boolean} forSession
   */
  approveAlways(sessionId, approval, suggestions, forSession) {
    return this.link.request({ type: 'approve_always', sessionId, ...this.#shown(approval), suggestions, forSession });
  }

  /**
   * @param {string} sessionId
   * @param {Approval} approval
   * @param {string} message
   * @param {boolean} [stop]
   */
  reject(sessionId, approval, message, stop = false) {
    return this.link.request({ type: 'reject', sessionId, ...this.#shown(approval), message, stop });
  }

  /**
   * @param {string} sessionId
   * @param {Approval} approval
   * @param {Record<string, string>} answers
   */
  answer(sessionId, approval, answers) {
    const result = JSON.stringify({ questions: approval.questions ?? [], answers });
    return this.link.request({ type: 'answer', sessionId, toolUseId: approval.id, digest: approval.digest, expires: this.link.expiry, result });
  }

  /** @param {string} sessionId */
  interrupt(sessionId) {
    return this.link.request({ type: 'interrupt', sessionId });
  }

  /** @param {string} sessionId */
  stop(sessionId) {
    return this.link.request({ type: 'stop_session', sessionId });
  }

  /**
   * @param {string} sessionId
   * @param {string} mode
   */
  setMode(sessionId, mode) {
    return this.link.request({ type: 'set_mode', sessionId, mode });
  }

  /**
   * @param {string} sessionId
   * @param {string} model
   */
  setModel(sessionId, model) {
    return this.link.request({ type: 'set_model', sessionId, ...(model === '' ? {} : { model }) });
  }

  /**
   * @param {string} sessionId
   * @param {string} inputId
   * @param {string} text
   */
  editInput(sessionId, inputId, text) {
    return this.link.request({ type: 'edit_input', sessionId, inputId, text });
  }

  /**
   * @param {string} sessionId
   * @param {string} inputId
   */
  cancelInput(sessionId, inputId) {
    return this.link.request({ type: 'cancel_input', sessionId, inputId });
  }

  /**
   * @param {string} sessionId
   * @param {string} title
   */
  rename(sessionId, title) {
    return this.link.request({ type: 'rename_session', sessionId, title });
  }

  /**
   * @param {string} sessionId
   * @param {boolean} archived
   */
  archive(sessionId, archived) {
    return this.link.request({ type: 'archive_session', sessionId, archived });
  }

  /**
   * A request besides the WebSocket.
   *
   * @param {string} path
   * @param {object} [body] sent as JSON by POST; without it the request is a GET
   * @returns {Promise<any>}
   */
  async http(path, body) {
    const how = body === undefined
      ? { cache: /** @type {RequestCache} */ ('no-store') }
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await this.link.fetch(path, how);
    const text = await answer.text();
    if (!answer.ok) throw new Error(text.trim() || `The bridge answered ${answer.status}.`);
    return (answer.headers.get('content-type') ?? '').startsWith('application/json') ? JSON.parse(text) : text;
  }

  /** Which request was shown, and until when a decision about it counts. @param {Approval} approval */
  #shown({ id, digest }) {
    return { id, digest, expires: this.link.expiry };
  }
}

/**
 * What became of a decision, in words for the one who made it; nothing when it holds.
 *
 * @param {Message} reply
 * @returns {string | null}
 */
export function decisionProblem(reply) {
  if (reply['status'] === 'already_resolved') return `Already decided by ${reply['by'] ?? 'another device'}.`;
  if (reply['status'] === 'gone') return `Nothing to decide any more: ${reply['why'] ?? 'it is gone'}.`;
  return null;
}
