// Frames of the CLI that have no event of the bridge's own: some are for people, some only for programs, and unknown ones
// are shown as they came.

/** @import { LogEvent } from '../types.js' */
/** @import { FrameRow, NoteRow } from './rows.js' */

import { plainText } from '../ansi.js';
import { limitWords, retryWords } from './problems.js';

/** Subtypes of `system` that tell programs how far things are. The page shows that by other means. */
const QUIET = new Set([
  'status', 'task_started', 'task_progress', 'task_updated', 'task_notification', 'files_persisted', 'hook_started', 'hook_response', 'background_tasks_changed', 'commands_changed', 'session_title_changed',
  'memory_recall', 'worker_shutting_down', 'permission_denied',
  'hook_progress', 'post_turn_summary', 'session_state_changed', 'thinking_tokens',
]);
const QUIET_KINDS = new Set(['tool_progress', 'auth_status', 'prompt_suggestion', 'tool_use_summary', 'streamlined_text']);

/** Longer texts that the CLI adds are folded away, in characters. */
const SHORT = 400;

/**
 * The row of a frame, if it has one.
 *
 * @param {LogEvent} event
 * @param {string} agent
 * @returns {NoteRow | FrameRow | null}
 */
export function frameRow(event, agent) {
  const kind = String(event['kind']);
  const frame = event['frame'];
  const base = { key: `e${event.seq}-frame`, rev: 0, at: event.at };
  if (QUIET_KINDS.has(kind)) return null;
  if (kind === 'user') return userRow(base, frame);
  if (kind === 'system') {
    const subtype = String(frame?.subtype);
    if (QUIET.has(subtype)) return null;
    if (subtype === 'compact_boundary') {
      return { ...base, kind: 'note', icon: 'archive', text: 'Earlier messages were summarised to make room' };
    }
    if (subtype === 'api_retry') return { ...base, kind: 'note', icon: 'clock', text: retryWords(frame, agent), isRetry: true };
    if (['informational', 'local_command_output', 'notification'].includes(subtype) && typeof frame.content === 'string') {
      return { ...base, kind: 'note', icon: 'info', text: plainText(frame.content) };
    }
    return { ...base, kind: 'frame', name: `system · ${subtype}`, frame };
  }
  if (kind === 'rate_limit_event') {
    const text = limitWords(frame?.rate_limit_info);
    return text === '' ? null : { ...base, kind: 'note', icon: 'clock', text };
  }
  return { ...base, kind: 'frame', name: kind, frame };
}

/** The words of a `user` frame. @param {any} frame */
export function userText(frame) {
  const content = frame?.message?.content;
  const text = typeof content === 'string'
    ? content
    : (Array.isArray(content) ? content : []).map((block) => (block?.type === 'text' ? block.text : '')).join('\n');
  // A task that ended in the background is told as XML for the model; its summary is for people.
  const summary = /^\s*<task-notification>[^]*?<summary>([^]*?)<\/summary>/.exec(text)?.[1];
  return plainText(summary ?? text.replace(/<\/?local-command-[a-z]+>/g, '')).trim();
}

/**
 * What the CLI says in the user's name: that it was interrupted, or what a command printed.
 *
 * @param {{key: string, rev: number, at: number}} base
 * @param {any} frame
 * @returns {NoteRow | FrameRow | null}
 */
function userRow(base, frame) {
  const plain = userText(frame);
  if (plain === '' || plain.startsWith('[Request interrupted')) return null;
  if (frame?.isReplay === true) return null;
  return plain.length > SHORT
    ? { ...base, kind: 'frame', name: 'Note from the agent', frame: plain }
    : { ...base, kind: 'note', icon: 'info', text: plain };
}
