// The card of the model's questions: one choice, several, or words of one's own.

/** @import { Approval, Question } from '../types.js' */
/** @import { Deciding } from './decide.js' */

import { h } from '../dom.js';
import { icon } from '../icons.js';
import { freshId } from '../wire/bridge.js';
import { connectionNotes, decide } from './decide.js';
import { draft, keepDraft } from './draft.js';
import { guarded } from './guard.js';
import { reveal } from './reveal.js';
import { moreBelow } from './seen.js';

/**
 * @param {Approval} approval
 * @param {Deciding} deciding
 * @returns {HTMLElement}
 */
export function questionCard(approval, deciding) {
  const { bridge, sessionId } = deciding;
  const mayApprove = bridge.may('approve');
  const questions = approval.questions ?? [];
  const key = `answers.${sessionId}.${approval.id}`;
  /** @type {unknown} */
  const before = kept(key);
  const fields = questions.map((question, index) => questionField(question, Array.isArray(before) ? before[index] : undefined, () => look()));
  const submit = h('button', { class: 'button allow', type: 'submit', ...guarded() }, 'Answer');
  const look = () => {
    submit.disabled = !mayApprove || fields.some(({ answer }) => answer() === '');
    keepDraft(key, JSON.stringify(fields.map(({ chosen }) => chosen())));
  };
  const card = h('section', { class: 'approval question-card', tabindex: -1, 'aria-label': 'Approval: question', 'data-approval': approval.id },
    h('form', {
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const answers = Object.fromEntries(questions.map((question, index) => [question.question, fields[index]?.answer() ?? '']));
        void decide(card, bridge.answer(sessionId, approval, answers));
      },
    },
    h('header', { class: 'approval-head' }, icon('question'),
      h('h3', {}, h('strong', {}, questions.length === 1 ? 'A question' : `${questions.length} questions`), ' for you')),
    h('div', { class: 'approval-body questions' }, fields.map(({ element }) => element), moreBelow()),
    connectionNotes(),
    h('div', { class: 'approval-foot' }, h('div', { class: 'approval-buttons' },
      h('button', {
        class: 'button', type: 'button', disabled: !mayApprove, ...guarded(),
        onclick: () => decide(card, bridge.reject(sessionId, approval, 'The user does not want to answer.')),
      }, 'Skip'),
      submit))));
  look();
  return reveal(card);
}

/** What was chosen and typed before a reload, if anything. @param {string} key */
function kept(key) {
  try {
    return JSON.parse(draft(key) || '[]');
  } catch {
    return [];
  }
}

/**
 * @param {Question} question
 * @param {any} before what was chosen and typed before a reload
 * @param {() => void} changed
 * @returns {{element: HTMLElement, answer: () => string, chosen: () => {labels: string[], other: boolean, words: string}}}
 */
function questionField(question, before, changed) {
  const several = question.multiSelect === true;
  const name = `q-${freshId()}`;
  const preview = h('pre', { class: 'option-preview', tabindex: 0, 'aria-label': 'Preview' });
  // It stands below what it is of. Only what was chosen has one: what moves under a finger is missed.
  const show = (/** @type {HTMLElement} */ line, /** @type {string | undefined} */ text) => {
    preview.textContent = text ?? '';
    if (text === undefined) preview.remove();
    else if (line.nextElementSibling !== preview) line.after(preview);
  };
  const boxes = question.options.map((option) => {
    const box = h('input', { type: several ? 'checkbox' : 'radio', name, value: option.label });
    const line = h('label', { class: 'option' }, box, h('span', { class: 'option-text' },
      h('strong', {}, option.label),
      option.description === undefined || option.description === '' ? null : h('span', { class: 'muted' }, option.description)));
    box.addEventListener('change', () => show(line, option.preview));
    return { box, line, label: option.label };
  });
  const other = h('input', { type: several ? 'checkbox' : 'radio', name, 'aria-label': 'Other' });
  const words = h('input', { class: 'field', type: 'text', placeholder: 'Something else…', 'aria-label': `Other answer to: ${question.question}` });
  other.addEventListener('change', () => { if (other.checked) words.focus(); });
  words.addEventListener('input', () => {
    other.checked = words.value.trim() !== '';
    if (other.checked && !several) preview.remove();
    changed();
  });
  const element = h('fieldset', { class: 'question', onchange: changed },
    h('legend', {}, question.header === undefined || question.header === '' ? null : h('span', { class: 'tag' }, question.header), h('span', {}, question.question)),
    several ? h('p', { class: 'question-how' }, 'Choose as many as you like.') : null,
    h('div', { class: 'options' }, boxes.map(({ line }) => line),
      h('div', { class: 'option other' }, other, words)));
  const labels = () => boxes.filter(({ box }) => box.checked).map(({ label }) => label);
  const chosen = () => ({ labels: labels(), other: other.checked, words: words.value });
  const answer = () => [...labels(), ...(other.checked && words.value.trim() !== '' ? [words.value.trim()] : [])].join(', ');
  if (before !== undefined) {
    for (const { box, label } of boxes) box.checked = before?.labels?.includes?.(label) === true;
    words.value = typeof before?.words === 'string' ? before.words : '';
    other.checked = before?.other === true;
  }
  return { element, answer, chosen };
}
