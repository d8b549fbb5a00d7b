// Things that come over the page: a sheet to choose or fill in, a menu, a short word that goes away by itself.

/** @import { Child } from '../dom.js' */

import { announce, h } from '../dom.js';
import { sentence } from '../format.js';
import { icon } from '../icons.js';
import { guarded, watch } from './guard.js';

/** How long a toast stays. */
const TOAST = 5_000;

/**
 * Opens a sheet: from below on a phone, in the middle elsewhere. The browser keeps the focus in it and gives it back.
 *
 * @param {string} title
 * @param {(close: () => void) => Child[]} content
 * @returns {HTMLDialogElement}
 */
export function sheet(title, content) {
  const dialog = h('dialog', { class: 'sheet', 'aria-label': title });
  const close = () => dialog.close();
  dialog.append(
    h('div', { class: 'sheet-head' },
      h('h2', {}, title),
      h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Close', onclick: close }, icon('close'))),
    h('div', { class: 'sheet-body' }, ...content(close)),
  );
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Closes every sheet: the page below has changed, and they were about the one before. */
export function closeSheets() {
  for (const dialog of document.querySelectorAll('dialog[open]')) /** @type {HTMLDialogElement} */ (dialog).close();
}

/**
 * Asks a yes-or-no question.
 *
 * @param {string} title
 * @param {string} text
 * @param {string} yes
 * @param {() => void} then
 */
export function confirmSheet(title, text, yes, then) {
  sheet(title, (close) => [
    h('p', { class: 'muted' }, text),
    h('div', { class: 'buttons end' },
      h('button', { class: 'button', type: 'button', onclick: close }, 'Cancel'),
      h('button', { class: 'button danger', type: 'button', ...guarded(), onclick: () => { close(); then(); } }, yes)),
  ]);
  // The tap that opened it may have been the first of two.
  watch();
}

/**
 * Lets the user choose one of several.
 *
 * @param {string} title
 * @param {{name: string, what?: string, icon?: string, chosen?: boolean, danger?: boolean, pick: () => void}[]} choices
 * @param {Child[]} [more]
 */
export function chooseSheet(title, choices, more = []) {
  return sheet(title, (close) => [
    h('div', { class: 'choices' },
      choices.map((choice) =>
        h('button', {
          class: `choice${choice.danger === true ? ' danger' : ''}`, type: 'button',
          'aria-current': choice.chosen === true ? 'true' : null,
          onclick: () => { close(); choice.pick(); },
        },
        choice.icon === undefined ? null : icon(choice.icon),
        h('span', { class: 'choice-text' }, h('strong', {}, choice.name), choice.what === undefined ? null : h('span', { class: 'muted' }, choice.what)),
        choice.chosen === true ? icon('check') : null))),
    ...more,
  ]);
}

/**
 * Says something for a moment.
 *
 * @param {string} text
 */
export function toast(text) {
  let place = document.getElementById('toasts');
  if (place === null) {
    place = h('div', { id: 'toasts', class: 'toasts' });
    document.body.append(place);
  }
  // Above an open dialog nothing of the page is seen but what is in the dialog.
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
  (dialog ?? document.body).append(place);
  const line = h('div', { class: 'toast' }, text);
  place.append(line);
  announce(text);
  setTimeout(() => line.remove(), TOAST);
}

/** Says what went wrong. @param {unknown} error */
export function failed(error) {
  toast(sentence(error));
}
