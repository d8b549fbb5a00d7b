// A new session: where, how careful, and the first words.

/** @import { App } from '../main.js' */

import { h } from '../dom.js';
import { MODES } from '../format.js';
import { failed, sheet } from '../parts/sheet.js';

/** Where a session begins unless the user says otherwise: where the newest one is, or a root. @param {App} app */
function likelyProject(app) {
  const newest = [...app.list.sessions].sort((a, b) => b.updatedAt - a.updatedAt)[0];
  return newest?.projectPath ?? app.link.welcome?.roots?.[0] ?? '';
}

/**
 * Asks where to begin, and begins.
 *
 * @param {App} app
 */
export function startSheet(app) {
  const known = [...new Set([...app.list.sessions.map(({ projectPath }) => projectPath), ...(app.link.welcome?.roots ?? [])])];
  const project = h('input', { class: 'field mono', type: 'text', required: true, list: 'projects', value: likelyProject(app), autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false' });
  const mode = h('select', { class: 'field' },
    Object.entries(MODES)
      .filter(([id]) => id !== 'bypassPermissions' || app.bridge.may('bypass'))
      .map(([id, { name }]) => h('option', { value: id }, name)));
  const meaning = h('span', { class: 'muted small' }, MODES['default']?.what);
  mode.addEventListener('change', () => { meaning.textContent = MODES[mode.value]?.what ?? ''; });
  const words = h('textarea', { class: 'field', rows: 4, placeholder: 'What is to be done?' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { class: 'button primary', type: 'submit' }, 'Start');
  sheet('New session', (close) => [h('form', {
    class: 'stack',
    onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      button.disabled = true;
      problem.textContent = '';
      try {
        const id = await app.bridge.start({ projectPath: project.value.trim(), permissionMode: mode.value });
        if (words.value.trim() !== '') app.outbox.say(id, words.value.trim(), [], 'queue');
        close();
        app.go(`#/s/${encodeURIComponent(id)}`);
      } catch (error) {
        problem.textContent = error instanceof Error ? error.message : String(error);
        button.disabled = false;
      }
    },
  },
  h('label', { class: 'labelled' }, h('span', {}, 'Project directory'), project),
  h('datalist', { id: 'projects' }, known.map((path) => h('option', { value: path }))),
  h('label', { class: 'labelled' }, h('span', {}, 'Mode'), mode, meaning),
  h('label', { class: 'labelled' }, h('span', {}, 'First message'), words),
  problem,
  h('div', { class: 'buttons end' }, h('button', { class: 'button', type: 'button', onclick: close }, 'Cancel'), button))]);
  words.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) words.form?.requestSubmit();
  });
  words.focus();
}

/**
 * Goes on with a session whose CLI is gone.
 *
 * @param {App} app
 * @param {string} id
 * @param {string} project
 */
export function resume(app, id, project) {
  return app.bridge.resume(id, project, 'attach').then((resumed) => {
    if (resumed !== id) app.go(`#/s/${encodeURIComponent(resumed)}`);
  }, failed);
}
