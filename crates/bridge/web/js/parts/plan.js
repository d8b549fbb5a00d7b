// The card of a plan: all of it; accept it, or keep planning with a word of what to change.

/** @import { Approval } from '../types.js' */
/** @import { Deciding } from './decide.js' */

import { h } from '../dom.js';
import { icon } from '../icons.js';
import { connectionNotes, decide } from './decide.js';
import { draft, keepDraft } from './draft.js';
import { guarded } from './guard.js';
import { previewOf } from './preview.js';
import { reveal } from './reveal.js';
import { moreBelow } from './seen.js';

/**
 * @param {Approval} approval
 * @param {Deciding} deciding
 * @returns {HTMLElement}
 */
export function planCard(approval, deciding) {
  const { bridge, sessionId, project } = deciding;
  const mayApprove = bridge.may('approve');
  const key = `plan.${sessionId}.${approval.id}`;
  const feedback = h('textarea', { class: 'field', rows: 2, placeholder: 'What should be different? (optional)', 'aria-label': 'Feedback on the plan', value: draft(key) });
  const hint = h('p', { class: 'muted small', role: 'status' });
  const accept = h('button', {
    class: 'button allow', type: 'button', ...guarded('allow'),
    onclick: () => decide(card, bridge.approve(sessionId, approval)),
  }, 'Accept plan');
  // An accepted plan has no room for words to the model: none are thrown away.
  const look = () => {
    const isWritten = feedback.value.trim() !== '';
    keepDraft(key, feedback.value);
    accept.disabled = !mayApprove || isWritten;
    const words = isWritten ? 'Send the feedback with Keep planning, or clear it to accept.' : 'After this it still asks before it edits or runs commands.';
    if (hint.textContent !== words) hint.textContent = words;
  };
  feedback.addEventListener('input', look);
  const card = h('section', { class: 'approval plan-card', tabindex: -1, 'aria-label': 'Approval: plan', 'data-approval': approval.id },
    h('header', { class: 'approval-head' }, icon('map'), h('h3', {}, h('strong', {}, 'A plan'), ' is ready for review')),
    h('div', { class: 'approval-body' }, previewOf(approval, project), moreBelow()),
    connectionNotes(),
    h('div', { class: 'approval-foot' }, feedback,
      h('div', { class: 'approval-buttons' },
        h('button', {
          class: 'button', type: 'button', disabled: !mayApprove, ...guarded(),
          onclick: () => decide(card, bridge.reject(sessionId, approval, feedback.value.trim() || 'Keep planning.')),
        }, 'Keep planning'),
        accept),
      hint));
  look();
  return reveal(card);
}
