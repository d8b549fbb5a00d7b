// A new session: where, how careful, and the first words.

/** @import { App } from '../main.js' */

import { h } from '../dom.js';
import { MODES, sentence } from '../format.js';
import { TOO_LARGE } from '../log/outbox.js';
import { failed, sheet } from '../parts/sheet.js';
import { settled } from '../parts/trust.js';

/** Where a prompt is kept that was typed and not sent. */
const DRAFT = 'pilothouse.new-session';

/** @returns {{project?: string, mode?: string, words?: string}} */
function draft() {
  try {
    return JSON.parse(sessionStorage.getItem(DRAFT) ?? '{}');
  } catch {
    return {};
  }
}

/** @param {{project: string, mode: string, words: string} | null} kept */
function keepDraft(kept) {
  try {
    if (kept === null) sessionStorage.removeItem(DRAFT);
    else sessionStorage.setItem(DRAFT, JSON.stringify(kept));
  } catch {
    // Storage may be forbidden or full: then a closed sheet forgets.
  }
}

/**
 * Asks where to begin, and begins.
 *
 * @param {App} app
 */
export function startSheet(app) {
  // Where the newest one is, or a root.
  const known = [...new Set([...app.listView.projects, ...(app.link.welcome?.roots ?? [])])];
  const before = draft();
  const project = h('input', { class: 'field mono', type: 'text', required: true, list: 'projects', value: before.project ?? known[0] ?? '', autocapitalize: 'none', autocorrect: 'off', spellcheck: 'false' });
  const mode = h('select', { class: 'field' },
    Object.entries(MODES)
      .filter(([id]) => id === 'default' || id === 'plan' || app.bridge.may('configure'))
      .filter(([id]) => id !== 'bypassPermissions' || app.bridge.may('bypass'))
      .map(([id, { name }]) => h('option', { value: id }, name)));
  if (mode.querySelector(`option[value="${CSS.escape(before.mode ?? '')}"]`) !== null) mode.value = before.mode ?? '';
  const meaning = h('span', { class: 'muted small' });
  const explain = () => { meaning.textContent = MODES[mode.value]?.what ?? ''; };
  mode.addEventListener('change', explain);
  explain();
  const words = h('textarea', { class: 'field', rows: 4, dir: 'auto', placeholder: 'What should it do?', value: before.words ?? '' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { class: 'button primary', type: 'submit' }, 'Start');
  const given = new AbortController();
  const dialog = sheet('New session', (close) => [h('form', {
    class: 'stack with-foot',
    oninput: () => keepDraft(words.value.trim() === '' ? null : { project: project.value, mode: mode.value, words: words.value }),
    onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      problem.textContent = app.outbox.isTooLarge(words.value, []) ? TOO_LARGE : '';
      if (problem.textContent !== '') return;
      button.disabled = true;
      try {
        if (!await settled(app, project.value.trim(), given.signal)) {
          button.disabled = false;
          return;
        }
        const id = await app.bridge.start({ projectPath: project.value.trim(), permissionMode: mode.value }, given.signal);
        app.started.add(id);
        if (words.value.trim() !== '') app.outbox.say(id, words.value.trim(), [], 'queue');
        keepDraft(null);
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
  h('div', { class: 'sheet-foot' }, problem,
    h('div', { class: 'buttons end' }, h('button', { class: 'button', type: 'button', onclick: close }, 'Cancel'), button)))]);
  // The end of a path tells projects apart: a field that is too narrow shows that.
  // A frame later, as browsers put a field that loses the focus back to its beginning.
  const showEnd = () => requestAnimationFrame(() => { project.scrollLeft = project.scrollWidth; });
  project.addEventListener('blur', showEnd);
  showEnd();
  // A keyboard that comes makes the sheet smaller: the field that is typed into stays in view.
  new ResizeObserver(() => {
    if (dialog.contains(document.activeElement)) document.activeElement?.scrollIntoView({ block: 'nearest' });
  }).observe(dialog);
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
export async function resume(app, id, project) {
  try {
    if (!await settled(app, project)) return;
    const resumed = await app.bridge.resume(id, project, 'attach');
    if (resumed !== id) app.go(`#/s/${encodeURIComponent(resumed)}`);
  } catch (error) {
    failed(error);
  }
}
