// A tool call: one line that opens.

/** @import { Call, Row, ToolsRow } from '../log/rows.js' */

import { ansiNodes } from '../ansi.js';
import { h, refill, serverHtml } from '../dom.js';
import { count, duration, size } from '../format.js';
import { icon, toolIcon } from '../icons.js';
import { standsAlone } from '../log/rows.js';
import { copyable } from './copy.js';
import { diffCard } from './diff.js';
import { isPath, moreLines, pathText, target, targetInFull, toolName } from './target.js';
import { fetchAs } from '../wire/credential.js';

/** How much of an output is shown before the reader asks for more, in lines. */
const SHOWN_LINES = 30;
/** Tools whose output is read from its beginning; that of all others ends with the outcome. */
const READ_FROM_THE_START = new Set(['Read', 'Grep', 'Glob', 'WebFetch', 'WebSearch']);
/** How many of a subagent's last lines are shown while it works. */
const LIVE_LINES = 3;

/** What was opened stays open when its row is drawn again. @type {Set<string>} */
const opened = new Set();

/**
 * @typedef {object} How
 * @property {string | undefined} project
 * @property {URL} base where outputs are fetched from
 * @property {boolean} live whether what has no result yet is running
 * @property {boolean} [isHeld] whether what has no result yet comes after something that waits
 * @property {(row: Row) => HTMLElement} row draws a row of a subagent
 */

/**
 * A run of calls.
 *
 * @param {ToolsRow} row
 * @param {How} around
 * @returns {HTMLElement}
 */
export function toolsRow(row, around) {
  const how = { ...around, isHeld: row.calls.some((call) => call.waits === true) };
  const [first] = row.calls;
  if (first !== undefined && (row.calls.length === 1 || standsAlone(first.name))) {
    return h('div', { class: 'row tools' }, callCard(first, how));
  }
  const open = how.live ? row.calls.filter((call) => call.result === undefined) : [];
  const running = open.find((call) => call.waits === true) ?? open[0];
  const isDone = row.calls.every((call) => call.result !== undefined);
  const bad = row.calls.filter((call) => stateOf(call, how) === 'bad').length;
  const refused = row.calls.filter((call) => call.notRun === 'denied').length;
  const run = disclosure(`run-${row.key}`, 'run', [
    icon(isDone ? 'check' : 'wrench'), h('span', { class: 'call-name' }, runTitle(row.calls, isDone)),
    bad === 0 ? null : h('span', { class: 'call-bad' }, `${bad} failed`),
    refused === 0 ? null : h('span', { class: 'call-note' }, `${refused} denied`)],
    () => row.calls.map((call) => callCard(call, how)));
  // While the last one runs, it is what one wants to see.
  return h('div', { class: 'row tools' }, run, running === undefined ? null : callLine(running, how));
}

/**
 * What a run did, in words: only of what has run it is said that it did.
 *
 * @param {Call[]} calls
 * @param {boolean} isDone
 */
function runTitle(calls, isDone) {
  /** @type {Map<string, number>} */
  const kinds = new Map();
  const kind = (/** @type {string} */ tool) => ({ Bash: 'ran', Read: 'read', Grep: 'searched', Glob: 'searched' })[tool] ?? 'used';
  const ran = calls.filter((call) => call.notRun === undefined);
  const told = isDone && ran.length > 0;
  for (const call of told ? ran : calls) kinds.set(kind(call.name), (kinds.get(kind(call.name)) ?? 0) + 1);
  const words = [...kinds].map(([what, times]) => {
    if (what === 'searched') return told ? `searched ${count(times, 'time')}` : count(times, 'search', 'searches');
    return `${told ? `${what} ` : ''}${count(times, what === 'ran' ? 'command' : what === 'read' ? 'file' : 'tool')}`;
  });
  const text = words.join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * One call.
 *
 * @param {Call} call
 * @param {How} how
 * @returns {HTMLElement}
 */
function callCard(call, how) {
  if (call.name === 'TodoWrite') return todos(call);
  const card = disclosure(`call-${call.id}`, `call ${stateOf(call, how)}`, lineOf(call, how), () => details(call, how));
  const diff = call.result?.diff;
  const below = call.below.length === 0 ? null : subagent(call, how);
  return diff === undefined && below === null
    ? card
    : h('div', { class: 'call-whole' }, card, diff === undefined ? null : diffCard(diff, { project: how.project }), below);
}

/**
 * @param {Call} call
 * @param {How} how
 */
function callLine(call, how) {
  return h('div', { class: `call-line ${stateOf(call, how)}` }, lineOf(call, how));
}

/**
 * @param {Call} call
 * @param {How} how
 */
function stateOf(call, how) {
  if (call.goesOn === true) return 'running';
  if (call.notRun !== undefined) return call.notRun;
  if (call.result === undefined && how.live && call.waits === true) return 'waiting';
  if (call.result === undefined) return how.live && (how.isHeld !== true || call.isAllowed === true) ? 'running' : 'open';
  return call.result.isError ? 'bad' : 'done';
}

/**
 * @param {Call} call
 * @param {How} how
 */
function lineOf(call, how) {
  const state = stateOf(call, how);
  const took = call.doneAt === undefined ? 0 : call.doneAt - call.at;
  return [
    toolIcon(call.name),
    h('span', { class: 'call-name' }, toolName(call.name)),
    h('span', { class: 'call-target' }, isPath(call.name) ? pathText(target(call.name, call.input, how.project)) : target(call.name, call.input, how.project)),
    moreLines(call.name, call.input) === '' ? null : h('span', { class: 'call-more' }, moreLines(call.name, call.input)),
    state === 'running' ? h('span', { class: 'spinner', role: 'img', 'aria-label': 'running' }) : null,
    state === 'waiting' ? h('span', { class: 'call-note' }, call.name === 'AskUserQuestion' ? 'waiting for an answer' : 'waiting for approval') : null,
    state === 'bad' ? h('span', { class: 'call-bad' }, 'failed') : null,
    state === 'denied' ? h('span', { class: 'call-note' }, call.name === 'AskUserQuestion' ? 'not answered' : 'denied') : null,
    state === 'stopped' ? h('span', { class: 'call-note' }, 'stopped') : null,
    call.isUnknown === true ? h('span', { class: 'call-bad' }, 'outcome unknown') : null,
    took >= 2000 ? h('span', { class: 'call-time' }, duration(took)) : null,
  ];
}

/**
 * @param {Call} call
 * @param {How} how
 */
function details(call, how) {
  const { result } = call;
  const input = call.name === 'Bash' && typeof call.input['command'] === 'string'
    ? `$ ${call.input['command']}`
    : call.name === 'ExitPlanMode' ? String(call.input['plan'] ?? '') : JSON.stringify(call.input, null, 2);
  return [
    input === '{}' ? null : h('pre', { class: 'call-input', tabindex: 0 }, input),
    result === undefined ? null : output(result.content, stateOf(call, how) === 'bad', READ_FROM_THE_START.has(call.name)),
    result?.truncated === undefined ? null : wholeOutput(result.truncated, how.base),
    ...(result?.images ?? []).map((image) =>
      h('img', { class: 'picture', alt: 'Picture in the result', src: `data:${image.mediaType};base64,${image.data}` })),
  ];
}

/**
 * What a tool says: the beginning of a file, the end of everything else.
 *
 * @param {string} text
 * @param {boolean} bad
 * @param {boolean} fromStart
 */
function output(text, bad, fromStart) {
  if (text.trim() === '') return h('p', { class: 'muted small' }, bad ? 'Failed without output.' : 'No output.');
  const lines = text.trimEnd().split('\n');
  const shown = fromStart ? lines.slice(0, SHOWN_LINES) : lines.slice(-SHOWN_LINES);
  const pre = h('pre', { class: `call-output${bad ? ' bad' : ''}`, tabindex: 0 }, ansiNodes(shown.join('\n')));
  // What ends with the outcome is shown at its end, once it is there.
  if (!fromStart) requestAnimationFrame(() => { pre.scrollTop = pre.scrollHeight; });
  const hidden = lines.length - shown.length;
  if (hidden === 0) return pre;
  const more = h('button', { class: `diff-more${fromStart ? '' : ' before'}`, type: 'button' }, count(hidden, fromStart ? 'more line' : 'earlier line'));
  more.addEventListener('click', () => {
    const below = pre.scrollHeight - pre.scrollTop;
    refill(pre, ansiNodes(text));
    // The lines that were read stay where they are.
    if (!fromStart) pre.scrollTop = pre.scrollHeight - below;
    more.remove();
  });
  return h('div', { class: 'output' }, ...(fromStart ? [pre, more] : [more, pre]));
}

/**
 * An output that was too long for the log's way here is fetched when somebody wants it.
 *
 * @param {{bytes: number, url: string}} truncated
 * @param {URL} base
 */
function wholeOutput(truncated, base) {
  const button = h('button', { class: 'diff-more', type: 'button' }, `Show all ${size(truncated.bytes)}`);
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const answer = await fetchAs(base, truncated.url.replace(/^\//, ''));
      if (!answer.ok) throw new Error(String(answer.status));
      button.replaceWith(h('pre', { class: 'call-output whole', tabindex: 0 }, ansiNodes(await answer.text())));
    } catch {
      button.disabled = false;
      button.textContent = 'Not loaded. Try again';
    }
  });
  return button;
}

/**
 * What a subagent does: its last lines while it works, everything when asked.
 *
 * @param {Call} call
 * @param {How} how
 */
function subagent(call, how) {
  const done = call.result !== undefined && call.goesOn !== true;
  const steps = call.below.reduce((sum, row) => sum + (row.kind === 'tools' ? row.calls.length : 1), 0);
  const whole = disclosure(`below-${call.id}`, 'below-all', [h('span', { class: 'muted' }, count(steps, 'step'))],
    () => call.below.map((row) => how.row(row)));
  return h('div', { class: 'below' }, whole,
    done ? null : h('div', { class: 'below-live' }, lastLines(call.below, how.project).map((line) => h('div', { class: 'below-line' }, line))));
}

/**
 * @param {Row[]} rows
 * @param {string | undefined} project
 */
function lastLines(rows, project) {
  /** @type {string[]} */
  const lines = [];
  for (const row of rows.slice(-LIVE_LINES)) {
    if (row.kind === 'text') lines.push(row.text.trim().split('\n').at(-1) ?? '');
    if (row.kind === 'tools') for (const call of row.calls) lines.push(`${toolName(call.name)} ${targetInFull(call.name, call.input, project)}`);
  }
  return lines.slice(-LIVE_LINES);
}

/** @param {Call} call */
function todos(call) {
  /** @type {any[]} */
  const list = Array.isArray(call.input['todos']) ? call.input['todos'] : [];
  return h('ul', { class: 'todos', 'aria-label': 'To do' },
    list.map((todo) => h('li', { class: `todo ${todo?.status === 'completed' ? 'done' : todo?.status === 'in_progress' ? 'now' : ''}` },
      icon(todo?.status === 'completed' ? 'check' : todo?.status === 'in_progress' ? 'right' : 'stop'),
      h('span', {}, String(todo?.content ?? '')))));
}

/**
 * Something that opens. Its content is made when it is opened first.
 *
 * @param {string} key
 * @param {string} kind
 * @param {(Node | null)[]} summary
 * @param {() => (Node | null)[]} content
 * @returns {HTMLDetailsElement}
 */
export function disclosure(key, kind, summary, content) {
  const body = h('div', { class: 'disclosed' });
  const details = h('details', { class: kind }, h('summary', {}, ...summary, icon('right')), body);
  let made = false;
  const make = () => {
    if (made) return;
    made = true;
    for (const part of content()) if (part !== null) body.append(part);
  };
  if (opened.has(key)) {
    make();
    details.open = true;
  }
  details.addEventListener('toggle', () => {
    if (details.open) {
      make();
      opened.add(key);
    } else opened.delete(key);
  });
  return details;
}

/**
 * Words of the model: as the bridge rendered them, or as they are.
 *
 * @param {string} kind
 * @param {string} text
 * @param {string} [html]
 */
export function prose(kind, text, html) {
  const place = h('div', { class: `prose ${kind}` });
  if (html !== undefined) {
    serverHtml(place, html).querySelectorAll('pre').forEach(copyable);
    return place;
  }
  place.classList.add('plain');
  place.textContent = text;
  return place;
}
