// What went wrong between the agent and the model's API, and what to do about it.

/** @typedef {{what: string, todo: string}} Problem */

import { sentence } from '../format.js';

/** How somebody signs in, by the agent. @type {Record<string, string>} */
const SIGN_IN = { claude: 'run “claude /login” on the bridge’s machine', other: 'restart the bridge with a valid ANTHROPIC_API_KEY' };

/** By the CLI's word for the error. @type {Record<string, Problem>} */
const KINDS = {
  authentication_failed: { what: 'Login refused', todo: 'Sign in, then send again.' },
  cloud_credential_error: { what: 'Cloud login refused', todo: 'Renew the cloud credentials on the bridge’s machine.' },
  oauth_org_not_allowed: { what: 'Your organisation refuses this login', todo: 'Sign in with another account.' },
  account_on_hold: { what: 'The account is on hold', todo: 'Check the account, then send again.' },
  verification_required: { what: 'The account must be verified', todo: 'Verify the account, then send again.' },
  billing_error: { what: 'No credit left', todo: 'Add credit to the account, then send again.' },
  rate_limit: { what: 'Rate limit reached', todo: 'Wait a while, then send again.' },
  overloaded: { what: 'The model is overloaded', todo: 'Send again in a few minutes, or choose another model.' },
  server_error: { what: 'The API has a server error', todo: 'Send again in a few minutes.' },
  model_not_found: { what: 'The model is not available', todo: 'Choose another model below.' },
  invalid_request: { what: 'The API refused the request', todo: 'Change your message, or start a new session.' },
  max_output_tokens: { what: 'The answer was too long', todo: 'Ask for a shorter answer.' },
};

const TOO_LONG = { what: 'The conversation is too long', todo: 'Send /compact, or start a new session.' };
const TOO_LARGE = { what: 'The message is too large', todo: 'Send less text or fewer images.' };
const NO_ANSWER = { what: 'The API does not answer', todo: 'Check the network of the bridge’s machine.' };

/**
 * An API error in words.
 *
 * @param {unknown} kind the CLI's word for it; `unknown` says nothing
 * @param {unknown} status the HTTP status, if there was an answer
 * @param {string} [text] the CLI's own words
 * @param {string} [agent] which agent has it
 * @returns {Problem}
 */
export function apiProblem(kind, status, text = '', agent = 'claude') {
  const problem = found(kind, status, text);
  return problem === KINDS['authentication_failed'] ? { ...problem, todo: `${sentence(signIn(agent))}, then send again.` } : problem;
}

/** @param {string} agent */
function signIn(agent) {
  return SIGN_IN[agent === 'claude' ? agent : 'other'] ?? '';
}

/**
 * @param {unknown} kind
 * @param {unknown} status
 * @param {string} text
 * @returns {Problem}
 */
function found(kind, status, text) {
  if (/prompt is too long|context (window|limit)/i.test(text)) return TOO_LONG;
  // Some versions of the CLI call this one a server error.
  if (status === 529) return /** @type {Problem} */ (KINDS['overloaded']);
  const named = typeof kind === 'string' && Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (kind === 'server_error') return typeof status === 'number' ? ofStatus(status) : NO_ANSWER;
  if (named !== undefined) return named;
  return typeof status === 'number' ? ofStatus(status) : NO_ANSWER;
}

/** @param {number} status @returns {Problem} */
function ofStatus(status) {
  const kind = { 401: 'authentication_failed', 402: 'billing_error', 403: 'authentication_failed', 404: 'model_not_found', 429: 'rate_limit', 529: 'overloaded' }[status];
  if (kind !== undefined) return found(kind, status, '');
  if (status === 413) return TOO_LARGE;
  const named = /** @type {Problem} */ (KINDS[status >= 500 ? 'server_error' : 'invalid_request']);
  return withStatus(named, status);
}

/**
 * @param {Problem} problem
 * @param {number} status
 */
function withStatus(problem, status) {
  return { ...problem, what: `${problem.what} (${status})` };
}

/**
 * What the CLI says while it tries again by itself.
 *
 * @param {any} frame `system/api_retry`
 * @param {string} agent
 */
export function retryWords(frame, agent) {
  const problem = found(frame.error, frame.error_status, '');
  const { what, todo } = problem;
  const of = frame.max_retries === undefined ? '' : ` of ${frame.max_retries}`;
  const delay = Number(frame.retry_delay_ms);
  const when = delay >= 1000 ? ` in ${Math.round(delay / 1000)} s` : '';
  // Waiting mends a busy API; a refused login and a missing network need somebody.
  if (problem === KINDS['authentication_failed']) return `${what} (attempt ${frame.attempt ?? '?'}${of}). Waiting does not help: stop, ${signIn(agent)}, then send again.`;
  const needed = problem === NO_ANSWER ? ` ${todo}` : '';
  return `${what}. Trying again${when} (${frame.attempt ?? '?'}${of}).${needed}`;
}

/**
 * What the CLI says about the plan's usage limit; nothing while all is well.
 *
 * @param {any} info `rate_limit_info`
 */
export function limitWords(info) {
  const status = info?.status;
  if (status === undefined || status === 'allowed') return '';
  const used = Number(info.utilization);
  const share = used > 0 && used <= 1 ? ` (${Math.round(100 * used)}%)` : '';
  const what = status === 'rejected' ? 'Usage limit reached' : status === 'allowed_warning' ? `Usage limit nearly reached${share}` : `Usage limit: ${String(status).replaceAll('_', ' ')}`;
  const at = resetTime(info.resetsAt);
  return at === '' ? `${what}.` : `${what}. It resets ${at}.`;
}

/** When a limit ends, in the reader's time. @param {unknown} seconds since 1970 */
export function resetTime(seconds) {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return '';
  const at = new Date(seconds * 1000);
  const time = at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return at.toDateString() === new Date().toDateString() ? `at ${time}` : `on ${at.toLocaleDateString(undefined, { weekday: 'short', day: 'numeric', month: 'short' })} at ${time}`;
}
