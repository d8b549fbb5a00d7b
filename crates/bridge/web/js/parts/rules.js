// What "always" would store, word for word, and where.

/** @import { Approval, Suggestion } from '../types.js' */

import { modeName } from '../format.js';

/** @type {Record<string, string>} */
const PLACES = {
  session: 'until this session ends',
  localSettings: '.claude/settings.local.json · this project, only you',
  projectSettings: '.claude/settings.json · this project, everybody',
  userSettings: '~/.claude/settings.json · all your projects',
  cliArg: 'until this session ends',
};

/** Where a suggestion is stored. @param {Suggestion} suggestion */
export function placeOf(suggestion) {
  return PLACES[suggestion.destination ?? 'session'] ?? String(suggestion.destination);
}

/** A rule as the log names it, with the file instead of the CLI's own word for it. @param {string} rule */
export function storedRule(rule) {
  const mode = /^mode (\w+)$/.exec(rule)?.[1];
  if (mode !== undefined) return modeWords(mode);
  return rule.replace(/ in (\w+)$/, (whole, place) => (place.endsWith('Settings') ? ` in ${PLACES[place]?.split(' · ')[0] ?? place}` : whole));
}

/** Whether a suggestion is kept beyond the session. @param {Suggestion} suggestion */
export function isStored({ destination }) {
  return destination?.endsWith('Settings') === true;
}

/**
 * Whether anything of what was allowed is kept beyond the session.
 *
 * @param {string[]} rules as the log names them
 * @param {Suggestion[]} suggestions what was offered
 */
export function isLasting(rules, suggestions) {
  return rules.some((rule) => {
    const directory = /^directory (.+)$/s.exec(rule)?.[1];
    if (directory === undefined) return / in \w+Settings$/.test(rule);
    // The log does not name the place of a directory.
    return suggestions.some((suggestion) => isStored(suggestion) && suggestion.directories?.includes(directory) === true);
  });
}

/** What a mode lets happen, for as long as the session lasts. @param {string | undefined} mode */
export function modeWords(mode) {
  return mode === 'acceptEdits' ? 'Accept all edits in this session' : `Mode ${modeName(mode)} in this session`;
}

/** The rules of a suggestion as settings files write them. @param {Suggestion} suggestion @returns {string[]} */
export function rulesOf(suggestion) {
  const rules = (suggestion.rules ?? []).map(({ toolName, ruleContent }) =>
    `${suggestion.behavior ?? 'allow'} ${toolName}${ruleContent === undefined || ruleContent === null ? '' : `(${ruleContent})`}`);
  const directories = (suggestion.directories ?? []).map((path) => `directory ${path}`);
  switch (suggestion.type) {
    case 'addRules': return rules;
    case 'replaceRules': return rules.map((rule) => `only ${rule}`);
    case 'removeRules': return rules.map((rule) => `no longer ${rule}`);
    case 'setMode': return [modeWords(suggestion.mode)];
    case 'addDirectories': return directories;
    case 'removeDirectories': return directories.map((directory) => `no longer ${directory}`);
    default: return [suggestion.type];
  }
}

/**
 * The suggestion that "for this session" means: the first that adds rules.
 *
 * @param {Approval} approval
 * @returns {number | undefined} its index
 */
export function sessionSuggestion(approval) {
  const found = (approval.suggestions ?? []).findIndex(({ type }) => type === 'addRules');
  return found < 0 ? undefined : found;
}
