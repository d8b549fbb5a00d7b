// A change of a file: coloured lines, the first twenty, then as many as there are.

/** @import { Diff } from '../types.js' */

import { h, serverHtml } from '../dom.js';
import { count, within } from '../format.js';
import { pathText } from './target.js';

/** How many lines are shown at first. */
const FIRST = 20;

/**
 * A diff.
 *
 * @param {Diff} diff
 * @param {{project?: string | undefined, all?: boolean}} [how]
 * @returns {HTMLElement}
 */
export function diffCard(diff, how = {}) {
  /** @type {HTMLElement[]} */
  const lines = [];
  diff.hunks.forEach((hunk, index) => {
    if (index > 0) lines.push(h('div', { class: 'diff-gap', 'aria-hidden': 'true' }, '⋯'));
    let [old, fresh] = [hunk.oldStart, hunk.newStart];
    for (const line of hunk.lines) {
      const number = line.kind === '-' ? old : fresh;
      if (line.kind !== '+') old += 1;
      if (line.kind !== '-') fresh += 1;
      const kind = line.kind === '+' ? 'added' : line.kind === '-' ? 'removed' : 'same';
      lines.push(h('div', { class: `diff-line ${kind}` },
        h('span', { class: 'diff-number', 'aria-hidden': 'true' }, number),
        h('span', { class: 'diff-sign' }, line.kind === ' ' ? ' ' : line.kind === '-' ? '−' : '+'),
        serverHtml(h('code', {}), line.html)));
    }
  });
  const body = h('div', { class: 'diff-lines', role: 'group', 'aria-label': `Changes of ${diff.path}`, tabindex: 0 });
  const show = how.all === true ? lines.length : FIRST;
  body.append(...lines.slice(0, show));
  const left = lines.length - show;
  const more = left <= 0 ? null : h('button', { class: 'diff-more', type: 'button' }, `${count(left, 'more line')}`);
  more?.addEventListener('click', () => {
    body.append(...lines.slice(show));
    more.remove();
  });
  const isSame = diff.added === 0 && diff.removed === 0 && diff.cut !== true;
  return h('div', { class: `diff${isSame ? ' same' : ''}` },
    h('div', { class: 'diff-head' },
      h('span', { class: 'diff-path' }, pathText(within(diff.path, how.project))),
      changeCounts(diff)),
    isSame && lines.length === 0 ? null : body, more,
    diff.cut === true ? h('p', { class: 'diff-cut' }, 'The rest is too long to show.') : null);
}

/** How many lines a change adds and removes. @param {Diff} diff */
export function changeCounts(diff) {
  if (diff.added === 0 && diff.removed === 0) return diff.cut === true ? [] : [h('span', { class: 'diff-none' }, 'No change')];
  return [
    h('span', { class: 'diff-added' }, `+${diff.added}`, h('span', { class: 'unseen' }, diff.added === 1 ? ' line added' : ' lines added')),
    h('span', { class: 'diff-removed' }, `−${diff.removed}`, h('span', { class: 'unseen' }, diff.removed === 1 ? ' line removed' : ' lines removed')),
  ];
}
