// What of a card has been in view. What does not fit is marked, and is not allowed before its end was seen.

import { h } from '../dom.js';
import { count } from '../format.js';
import { icon } from '../icons.js';

/** So many pixels of what scrolls need not have been in view. */
const SLACK = 4;

/** How far what scrolls was in view, in pixels. @type {WeakMap<Element, {bottom: number, right: number}>} */
const reached = new WeakMap();

/** What scrolls in a card and is about what it asks. @param {Element} card @returns {Element[]} */
function scrollers(card) {
  return [...card.querySelectorAll('.approval-body, .approval-body :is(pre, .table-frame, .diff-lines, .preview), .always-form .rules')];
}

/** Whether all of what a card asks about was in view. @param {Element} card */
export function isAllSeen(card) {
  // Lines that were left out have a button that shows them.
  if (card.querySelector('.approval-body .diff-more') !== null) return false;
  return scrollers(card).every((scroller) => {
    const { bottom, right } = reached.get(scroller) ?? { bottom: 0, right: 0 };
    return scroller.scrollHeight <= bottom + SLACK && scroller.scrollWidth <= right + SLACK;
  });
}

/** Takes in what is in view now, and marks what is not. @param {Element} card */
export function look(card) {
  for (const scroller of scrollers(card)) {
    const { bottom, right } = reached.get(scroller) ?? { bottom: 0, right: 0 };
    reached.set(scroller, {
      bottom: Math.max(bottom, scroller.scrollTop + scroller.clientHeight),
      right: Math.max(right, Math.abs(scroller.scrollLeft) + scroller.clientWidth),
    });
  }
  const body = card.querySelector('.approval-body');
  const cue = /** @type {HTMLElement | null} */ (body?.querySelector('.approval-more') ?? null);
  if (body === null || cue === null) return;
  const below = body.scrollHeight - body.scrollTop - body.clientHeight;
  const line = body.querySelector('code, .diff-line, li, p, label') ?? body;
  const lines = Math.ceil(below / Number.parseFloat(getComputedStyle(line).lineHeight));
  const words = below <= SLACK ? '' : `${count(lines, 'more line')} below`;
  cue.hidden = words === '';
  const label = cue.querySelector('.approval-more-text');
  if (label !== null && words !== '' && label.textContent !== words) label.textContent = words;
}

/** The mark of what is below: a press shows the next piece of it. */
export function moreBelow() {
  const cue = h('div', { class: 'approval-more' }, h('button', {
    class: 'approval-more-button', type: 'button',
    onclick: () => {
      const body = cue.parentElement;
      body?.scrollBy({ top: body.clientHeight * 0.8 });
    },
  }, icon('down'), h('span', { class: 'approval-more-text' })));
  cue.hidden = true;
  return cue;
}
