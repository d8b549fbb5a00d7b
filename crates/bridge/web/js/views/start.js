// A new session: where, how careful, and the first words.

/** @import { App } from '../main.js' */

import { h } from '../dom.js';
import { MODES, sentence } from '../format.js';
import { TOO_LARGE } from '../log/outbox.js';
import { failed, sheet } from '../parts/sheet.js';

/**
 * Asks where to begin, and begins.
 *
 * @param {App} app
 */
export function startSheet(app) {
  // Where the newest one is, or a root.
  const known = [...new Set([...app.listView.projects, ...(app.link.welcome?.roots ?? [])])];
  const project = h('input', { class: 'field mono', type: 'text', required: true, list: 'projects', value: known[0] ?? '', autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false' });
  const mode = h('select', { class: 'field' },
    Object.entries(MODES)
      .filter(([id]) => id === 'default' || id === 'plan' || app.bridge.may('configure'))
      .filter(([id]) => id !== 'bypassPermissions' || app.bridge.may('bypass'))
      .map(([id, { name }]) => h('option', { value: id }, name)));
  const meaning = h('span', { class: 'muted small' }, MODES['default']?.what);
  mode.addEventListener('change', () => { meaning.textContent = MODES[mode.value]?.what ?? ''; });
  const words = h('textarea', { class: 'field', rows: 4, dir: 'auto', placeholder: 'What is to be done?' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { class: 'button primary', type: 'submit' }, 'Start');
  const given = new AbortController();
  const dialog = sheet('New session', (close) => [h('form', {
    class: 'stack',
    onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      problem.textContent = app.outbox.isTooLarge(words.value, []) ? TOO_LARGE : '';
      if (problem.textContent !== '') return;
      button.disabled = true;
      try {
        const id = await app.bridge.start({ projectPath: project.value.trim(), permissionMode: mode.value }, given.signal);
        app.started.add(id);
        if (words.value.trim() !== '') app.outbox.say(id, words.value.trim(), [], 'queue');
        close();
        app.go(`#/s/${encodeURIComponent(id)}`);
      } catch (error) {
        problem.textContent = sentence(error);
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
  // Who gives up before there is a connection again starts nothing.
  dialog.addEventListener('close', () => given.abort());
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
