// What a tool call is about, in one line.

import { firstLine, within } from '../format.js';

/** The member of the input that says it best, by tool. @type {Record<string, string[]>} */
const MEMBERS = {
  Bash: ['command'], Read: ['file_path'], Write: ['file_path'], Edit: ['file_path'], MultiEdit: ['file_path'],
  NotebookEdit: ['notebook_path'], Glob: ['pattern'], Grep: ['pattern'], WebFetch: ['url'], WebSearch: ['query'],
  Agent: ['description'], Task: ['description'], Skill: ['skill', 'command'], ToolSearch: ['query'],
};

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
 * All of what a call would do, if it can be said in words: what is cut is not what somebody may say yes to.
 *
 * @param {string} tool
 * @param {Record<string, any>} input
 * @param {string} [project]
 * @returns {string}
 */
export function wholeTarget(tool, input, project) {
  const text = named(tool, input);
  return text === undefined ? JSON.stringify(input) : within(text, project);
}

/**
 * What a tool that is known is about.
 *
 * @param {string} tool
 * @param {Record<string, any>} input
 * @returns {string | undefined}
 */
function named(tool, input) {
  const members = (Object.hasOwn(MEMBERS, tool) ? MEMBERS[tool] : undefined) ?? [];
  return members.map((member) => input[member]).find((value) => typeof value === 'string');
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
