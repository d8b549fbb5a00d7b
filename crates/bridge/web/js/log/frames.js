// Frames of the CLI that are no event of the bridge's own: some say something to people, some only to programs, and what
// is not known is shown as it came.

/** @import { LogEvent } from '../types.js' */
/** @import { FrameRow, NoteRow, TextRow } from './rows.js' */

/** Subtypes of `system` that tell programs how far things are. The page shows that by other means. */
const QUIET = new Set([
  'status', 'task_started', 'task_progress', 'task_updated', 'task_notification', 'files_persisted', 'hook_started', 'hook_response', 'background_tasks_changed', 'commands_changed', 'session_title_changed',
  'memory_recall', 'worker_shutting_down',
  'hook_progress', 'post_turn_summary', 'session_state_changed', 'thinking_tokens',
]);
const QUIET_KINDS = new Set(['tool_progress', 'auth_status', 'prompt_suggestion', 'tool_use_summary', 'streamlined_text']);

/**
 * The row of a frame, if it has one.
 *
 * @param {LogEvent} event
 * @returns {NoteRow | TextRow | FrameRow | null}
 */
export function frameRow(event) {
  const kind = String(event['kind']);
  const frame = event['frame'];
  const base = { key: `e${event.seq}-frame`, rev: 0, at: event.at };
  if (QUIET_KINDS.has(kind)) return null;
  if (kind === 'user') return userRow(base, frame);
  if (kind === 'system') {
    const subtype = String(frame?.subtype);
    if (QUIET.has(subtype)) return null;
    if (subtype === 'compact_boundary') {
      return { ...base, kind: 'note', icon: 'archive', text: 'The conversation so far was summed up to make room' };
    }
    if (subtype === 'api_retry') {
      const of = frame.max_retries === undefined ? '' : ` of ${frame.max_retries}`;
      return { ...base, kind: 'note', icon: 'clock', text: `The model’s API is busy: attempt ${frame.attempt ?? '?'}${of}` };
    }
    if (['informational', 'local_command_output', 'notification'].includes(subtype) && typeof frame.content === 'string') {
      return { ...base, kind: 'note', icon: 'info', text: frame.content };
    }
    return { ...base, kind: 'frame', name: `system · ${subtype}`, frame };
  }
  if (kind === 'rate_limit_event') {
    const status = frame?.rate_limit_info?.status;
    return status === undefined || status === 'allowed'
      ? null
      : { ...base, kind: 'note', icon: 'clock', text: `Usage limit: ${String(status).replaceAll('_', ' ')}` };
  }
  return { ...base, kind: 'frame', name: kind, frame };
}

/**
 * What the CLI says in the user's name: that it was interrupted, or what a command printed.
 *
 * @param {{key: string, rev: number, at: number}} base
 * @param {any} frame
 * @returns {NoteRow | FrameRow | null}
 */
function userRow(base, frame) {
  const content = frame?.message?.content;
  const text = typeof content === 'string'
    ? content
    : (Array.isArray(content) ? content : []).map((block) => (block?.type === 'text' ? block.text : '')).join('\n');
  const plain = text.replace(/<\/?local-command-[a-z]+>/g, '').trim();
  if (plain === '' || plain.startsWith('[Request interrupted')) return null;
  if (frame?.isReplay === true) return null;
  return plain.length > 400
    ? { ...base, kind: 'frame', name: 'user', frame: plain }
    : { ...base, kind: 'note', icon: 'info', text: plain };
}
