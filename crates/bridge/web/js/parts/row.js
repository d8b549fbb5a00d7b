// The rows of a conversation.

/** @import { ResolvedRow, Row, TurnRow, UserRow } from '../log/rows.js' */

import { h } from '../dom.js';
import { duration, tokens } from '../format.js';
import { icon } from '../icons.js';
import { UNKNOWN } from '../log/rows.js';
import { reveal } from './reveal.js';
import { storedRule } from './rules.js';
import { disclosure, prose, toolsRow } from './tool.js';
import { toolName } from './target.js';

/** How much of a command its decision shows, in characters. */
const LONGEST = 160;

/** @typedef {{project: string | undefined, base: URL, live: boolean, cost: (dollars: number | undefined) => string}} Surroundings */

/**
 * One row.
 *
 * @param {Row} row
 * @param {Surroundings} around
 * @returns {HTMLElement}
 */
export function rowElement(row, around) {
  switch (row.kind) {
    case 'user': return userRow(row);
    case 'text':
      return h('div', { class: 'row said' }, prose('text', row.text, row.html),
        row.cut === true ? h('p', { class: 'muted small' }, 'Cut off here.') : null);
    case 'thinking':
      return h('div', { class: 'row thought' }, disclosure(`thought-${row.key}`, 'thinking',
        [icon('thought'), h('span', {}, 'Thought')], () => [prose('thinking-text', row.text, row.html)]));
    case 'tools': return reveal(toolsRow(row, { ...around, row: (below) => rowElement(below, around) }));
    case 'resolved': return reveal(resolvedRow(row));
    case 'turn': return turnRow(row, around);
    case 'note':
      return h('div', { class: `row note${row.tone === 'bad' ? ' bad' : ''}` }, icon(row.icon), h('div', { class: 'note-text' },
        row.title === undefined ? null : h('strong', {}, row.title),
        row.text === '' ? null : h('span', {}, row.text),
        row.detail === undefined || row.detail === '' ? null : h('span', { class: 'note-detail' }, row.detail)));
    case 'frame':
      return h('div', { class: 'row frame' }, disclosure(`frame-${row.key}`, 'call frame',
        [icon('info'), h('span', { class: 'call-name' }, row.name)],
        () => [h('pre', { class: 'call-output', tabindex: 0 }, typeof row.frame === 'string' ? row.frame : JSON.stringify(row.frame, null, 2))]));
  }
}

/** @param {UserRow} row */
function userRow(row) {
  const states = { sending: '', delivered: '', queued: 'Waiting', edited: 'Waiting', cancelled: 'Cancelled', indeterminate: 'Delivery unknown: check before you send again.' };
  const state = states[row.state];
  return h('div', { class: `row user ${row.state}` },
    h('div', { class: 'bubble' },
      ...row.images.map((image) => h('img', { class: 'picture', alt: 'Attached picture', src: `data:${image.mediaType};base64,${image.data}` })),
      row.text === '' ? null : prose('user-text', row.text, row.html)),
    state === '' ? null : h('div', { class: 'bubble-state' }, icon(row.state === 'indeterminate' ? 'alert' : 'clock'), state));
}

/** One grey line that says what was decided, and where. @param {ResolvedRow} row */
function resolvedRow(row) {
  /** @type {Record<string, [string, string]>} */
  const words = {
    allowed: ['check', 'Allowed'], allowed_always: ['check', 'Always allowed'], denied: ['close', 'Denied'],
    answered: ['check', 'Answered'], withdrawn: ['info', 'Withdrawn'],
  };
  const [mark, word] = row.decision === 'allowed_always' && !row.isLasting ? ['check', 'Allowed for this session'] : words[row.decision] ?? ['info', row.decision];
  const what = row.tool === 'AskUserQuestion' ? '' : row.tool === 'ExitPlanMode' ? 'plan' : toolName(row.tool);
  const target = ['AskUserQuestion', 'ExitPlanMode'].includes(row.tool) ? '' : row.target;
  const message = row.message === undefined || row.message === '' ? '' : row.decision === 'answered' ? row.message : `“${row.message}”`;
  return h('div', { class: `row resolved ${row.decision}${row.isUnknown === true ? ' indeterminate' : ''}` }, icon(mark),
    h('span', { class: 'resolved-text' },
      h('strong', {}, word), what === '' ? '' : ` ${what}`,
      target === '' ? null : h('code', {}, target.length > LONGEST ? `${target.slice(0, LONGEST)}…` : target),
      target === '' ? '' : row.more,
      message === '' ? '' : ` ${message}`,
      row.by === undefined ? '' : ` · ${row.by}`,
      row.rules.length === 0 ? null : h('span', { class: 'resolved-rules' }, row.rules.map((rule) => h('code', {}, storedRule(rule)))),
      row.isUnknown === true ? h('span', { class: 'resolved-unknown' }, icon('alert'), UNKNOWN) : null));
}

/**
 * @param {TurnRow} row
 * @param {Surroundings} around
 */
function turnRow(row, around) {
  const parts = [
    around.cost(row.cost), row.duration === undefined ? '' : duration(row.duration),
    row.tokens === undefined ? '' : `${tokens(row.tokens)} tokens`,
  ].filter((part) => part !== '');
  return h('div', { class: 'row turn' }, h('span', { class: 'turn-chip' }, parts.join(' · ')));
}
