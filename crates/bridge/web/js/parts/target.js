// What a tool call is about, in one line.

import { h } from '../dom.js';
import { count, firstLine, within } from '../format.js';

/** The member of the input that says it best, by tool. @type {Record<string, string[]>} */
const MEMBERS = {
  Bash: ['command'], Read: ['file_path'], Write: ['file_path'], Edit: ['file_path'], MultiEdit: ['file_path'],
  NotebookEdit: ['notebook_path'], Glob: ['pattern'], Grep: ['pattern'], WebFetch: ['url'], WebSearch: ['query'],
  Agent: ['description'], Task: ['description'], Skill: ['skill', 'command'], ToolSearch: ['query'],
};

/** Tools that are about a file. */
const PATHS = new Set(['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit']);

/** Whether the target of a tool is a path. @param {string} tool */
export function isPath(tool) {
  return PATHS.has(tool);
}

/**
 * A path that is cut at its beginning where there is no room: its end says which file it is.
 *
 * @param {string} path
 */
export function pathText(path) {
  return h('span', { class: 'path-end', title: path }, h('bdi', { dir: 'ltr' }, path));
}

/**
 * What a call is about.
 *
 * @param {string} tool
 * @param {Record<string, any>} input
 * @param {string} [project]
 * @returns {string}
 */
export function target(tool, input, project) {
  return within(firstLine(named(tool, input) ?? someWords(tool, input)), project);
}

/**
 * How many more lines there are than the one that `target` gives, in words; nothing where that line is all.
 *
 * @param {string} tool
 * @param {Record<string, any>} input
 * @returns {string}
 */
export function moreLines(tool, input) {
  const lines = (named(tool, input) ?? '').trim().split('\n').length;
  return lines > 1 ? `… (${count(lines, 'line')})` : '';
}

/**
 * What a call is about, and that there is more of it.
 *
 * @param {string} tool
 * @param {Record<string, any>} input
 * @param {string} [project]
 * @returns {string}
 */
export function targetInFull(tool, input, project) {
  return target(tool, input, project) + moreLines(tool, input);
}

/** What the views of a tool show of its input by themselves. The words that describe a command do nothing. @type {Record<string, string[]>} */
const SHOWN = {
  Bash: ['command', 'description'], ExitPlanMode: ['plan'], Write: ['file_path', 'content'], Edit: ['file_path', 'old_string', 'new_string'],
  MultiEdit: ['file_path', 'edits'], NotebookEdit: ['notebook_path', 'new_source'],
};

/**
 * What an input has besides what the tool's view shows: it goes to the tool all the same.
 *
 * @param {string} tool
 * @param {Record<string, any>} input
 * @param {string[]} [shown]
 * @returns {string[]} `name: value` for each
 */
export function further(tool, input, shown = Object.hasOwn(SHOWN, tool) ? SHOWN[tool] : []) {
  // The CLI fills this one in with what it means anyway.
  const says = (/** @type {[string, any]} */ [name, value]) => shown?.includes(name) !== true && !(name === 'replace_all' && value === false);
  return Object.entries(input).filter(says)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
}

/** Whether a call changes a file, which no line of words can show. @param {string} tool */
export function isEdit(tool) {
  return ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'].includes(tool);
}

/**
 * All of what a call would do, if it can be said in words: what is cut is not what somebody may say yes to.
 *
 * @param {string} tool
 * @param {Record<string, any>} input
 * @param {string} [project]
 * @returns {string}
 */
export function wholeTarget(tool, input, project) {
  const text = named(tool, input);
  if (text === undefined) return JSON.stringify(input);
  const rest = isEdit(tool) ? [] : further(tool, input, [...namesOf(tool, input), ...(tool === 'Bash' ? ['description'] : [])]);
  return [within(text, project), ...rest].join('\n');
}

/**
 * What a tool that is known is about.
 *
 * @param {string} tool
 * @param {Record<string, any>} input
 * @returns {string | undefined}
 */
function named(tool, input) {
  const [name] = namesOf(tool, input);
  return name === undefined ? undefined : input[name];
}

/**
 * The member of an input that says best what a known tool is about.
 *
 * @param {string} tool
 * @param {Record<string, any>} input
 * @returns {string[]} at most one
 */
function namesOf(tool, input) {
  const members = (Object.hasOwn(MEMBERS, tool) ? MEMBERS[tool] : undefined) ?? [];
  return members.filter((member) => typeof input[member] === 'string').slice(0, 1);
}

/**
 * @param {string} tool
 * @param {Record<string, any>} input
 * @returns {string}
 */
function someWords(tool, input) {
  if (tool === 'AskUserQuestion') return String(input['questions']?.[0]?.question ?? '');
  if (tool === 'ExitPlanMode') return String(input['plan'] ?? '').replace(/^#+\s*/, '');
  if (tool === 'TodoWrite') return '';
  return String(Object.values(input).find((value) => typeof value === 'string') ?? '');
}

/** Tools whose names say less than one word. @type {Record<string, string>} */
const NAMES = { AskUserQuestion: 'Question', ExitPlanMode: 'Plan', EnterPlanMode: 'Plan mode', TodoWrite: 'To do' };

/** A tool's name as people read it: `mcp__server__tool` is a tool of a server. @param {string} tool */
export function toolName(tool) {
  if (Object.hasOwn(NAMES, tool)) return NAMES[tool] ?? tool;
  const found = /^mcp__(.+?)__(.+)$/.exec(tool);
  return found === null ? tool : `${found[1]}: ${found[2]}`;
}
