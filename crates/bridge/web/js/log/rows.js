// What a conversation looks like: rows in order. A row may change, but it never moves and never goes away.

/** @import { Diff, Image, InputState } from '../types.js' */

/**
 * @typedef {object} CallResult
 * @property {string} content
 * @property {boolean} isError
 * @property {Image[]} images
 * @property {Diff} [diff]
 * @property {{bytes: number, url: string}} [truncated]
 *
 * @typedef {object} Call
 * @property {string} id
 * @property {string} name
 * @property {Record<string, any>} input
 * @property {number} at
 * @property {number} [doneAt]
 * @property {CallResult} [result]
 * @property {boolean} [isUnknown] whether it was allowed, and nobody knows if it ran
 * @property {'denied' | 'stopped'} [notRun] why it did not run, when that is not its own failure
 * @property {boolean} [waits] whether somebody has yet to decide about it
 * @property {boolean} [isAllowed] whether somebody has allowed it
 * @property {boolean} [goesOn] whether what it began still runs, though its result may be there
 * @property {Row[]} below what the subagent that it started does
 *
 * @typedef {{key: string, rev: number, at: number}} Base
 * @typedef {Base & {kind: 'user', inputId: string, text: string, html?: string, images: Image[], state: InputState, by: string}} UserRow
 * @typedef {Base & {kind: 'text', text: string, html?: string, cut?: boolean}} TextRow
 * @typedef {Base & {kind: 'thinking', text: string, html?: string}} ThinkingRow
 * @typedef {Base & {kind: 'tools', calls: Call[]}} ToolsRow
 * @typedef {Base & {kind: 'resolved', decision: string, tool: string, target: string, more: string, isLasting: boolean, by?: string, message?: string, rules: string[], isUnknown?: boolean}} ResolvedRow
 * @typedef {Base & {kind: 'turn', cost?: number, duration?: number, tokens?: number}} TurnRow
 * @typedef {Base & {kind: 'note', icon: string, text: string, tone?: 'bad', title?: string, detail?: string, isRetry?: boolean}} NoteRow
 * @typedef {Base & {kind: 'frame', name: string, frame: unknown}} FrameRow
 * @typedef {UserRow | TextRow | ThinkingRow | ToolsRow | ResolvedRow | TurnRow | NoteRow | FrameRow} Row
 */

/** What is said of a call that was allowed before the CLI was gone. */
export const UNKNOWN = 'Outcome unknown: check before you repeat it.';

/** Tools that stand alone: their cards are what one wants to see. */
const ALONE = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit', 'TodoWrite', 'AskUserQuestion', 'ExitPlanMode', 'Agent', 'Task']);

/** Whether calls of this tool stand alone. @param {string} tool */
export function standsAlone(tool) {
  return ALONE.has(tool);
}

/**
 * Adds a call: to the run of calls at the end, or as a new row. Gives the row that has it.
 *
 * @param {Row[]} rows
 * @param {Call} call
 * @returns {ToolsRow}
 */
export function addCall(rows, call) {
  const last = rows.at(-1);
  const first = last?.kind === 'tools' ? last.calls[0] : undefined;
  if (last?.kind === 'tools' && first !== undefined && !standsAlone(first.name) && !standsAlone(call.name)) {
    last.calls.push(call);
    last.rev += 1;
    return last;
  }
  /** @type {ToolsRow} */
  const row = { kind: 'tools', key: `call-${call.id}`, rev: 0, at: call.at, calls: [call] };
  rows.push(row);
  return row;
}
