// Whether the files of a project may run programs and allow something, before a session starts there.

/** @import { App } from '../main.js' */
/** @import { ProjectPart, ProjectReview } from '../types.js' */

import { h } from '../dom.js';
import { Refused } from '../wire/connection.js';
import { guarded, watch } from './guard.js';
import { failed, sheet } from './sheet.js';

/** @type {Record<string, string>} */
const KINDS = {
  hook: 'Hook', mcp: 'MCP server', allow: 'Allows', directory: 'Directory', mode: 'Mode', env: 'Variable',
  setting: 'Setting', skill: 'Skill', agent: 'Agent', broken: 'Cannot be read',
};

/**
 * Asks whether the files of a project count, if somebody has to say so.
 *
 * @param {App} app
 * @param {string} projectPath
 * @param {AbortSignal} [signal] nobody waits for it any more
 * @returns {Promise<boolean>} whether a session may start there
 */
export async function settled(app, projectPath, signal) {
  /** @type {ProjectReview} */
  let review;
  try {
    review = await app.bridge.review(projectPath, signal);
  } catch (error) {
    // A bridge that does not look at files has nothing to ask; what else is wrong, the start says.
    if (error instanceof Refused) return true;
    throw error;
  }
  if (review.isTrusted) return true;
  return new Promise((resolve) => {
    const isBroken = review.broken.some((part) => part.isNew);
    let goesOn = false;
    const trust = () => app.bridge.trust(projectPath, review.digest).then(() => { goesOn = true; }, failed);
    const dialog = sheet('Trust this project?', (close) => [
      h('p', { class: 'muted' }, isBroken
        ? 'A settings file cannot be read, so its rules do not hold. Nothing starts until you agree.'
        : 'Its files run programs or allow something. Without your trust they stay off.'),
      app.bridge.may('owner') ? null : h('p', {}, 'Only an owner’s device can trust it.'),
      h('p', { class: 'mono small trust-path' }, review.projectPath),
      h('ul', { class: 'trust-parts' }, [...review.broken, ...review.parts].map(partRow)),
      h('div', { class: 'sheet-foot' }, h('div', { class: 'buttons end' },
        h('button', { class: 'button', type: 'button', onclick: () => { goesOn = !isBroken; close(); } }, 'Not now'),
        app.bridge.may('owner')
          ? h('button', { class: 'button primary', type: 'button', ...guarded(), onclick: () => trust().then(close) }, isBroken ? 'Go on without it' : 'Trust')
          : null)),
    ]);
    dialog.addEventListener('close', () => resolve(goesOn));
    // The tap that opened it may have been the first of two.
    watch();
  });
}

/** @param {ProjectPart} part */
function partRow(part) {
  return h('li', { class: `trust-part${part.isNew ? ' new' : ''}` },
    h('span', { class: 'small trust-kind' }, KINDS[part.kind] ?? part.kind, part.isNew ? ' · new' : ''),
    h('code', { class: 'trust-text' }, part.text),
    h('span', { class: 'muted small' }, part.file));
}
