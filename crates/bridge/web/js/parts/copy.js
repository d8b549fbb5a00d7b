// What can be taken along: code, links.

import { h } from '../dom.js';
import { icon } from '../icons.js';
import { failed, toast } from './sheet.js';

/** Puts a text where the user can paste it from. @param {string} text */
export async function copy(text) {
  try {
    // Pages without TLS have no clipboard but the one of the old days.
    if (navigator.clipboard === undefined) copySelection(text);
    else await navigator.clipboard.writeText(text);
    toast('Copied.');
  } catch (error) {
    failed(error);
  }
}

/** @param {string} text */
function copySelection(text) {
  const place = h('textarea', { class: 'unseen', 'aria-hidden': 'true', value: text });
  const before = document.activeElement;
  (document.querySelector('dialog[open]') ?? document.body).append(place);
  place.select();
  const done = document.execCommand('copy');
  place.remove();
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  if (!done) throw new Error('This browser does not allow copying. Select the text instead.');
}

/** Gives a block of code a button that copies it. @param {Element} code */
export function copyable(code) {
  const frame = h('div', { class: 'code-frame' });
  code.replaceWith(frame);
  frame.append(code, h('button', { class: 'copy', type: 'button', 'aria-label': 'Copy code', title: 'Copy', onclick: () => copy(code.textContent ?? '') }, icon('copy')));
}
