// The card of an approval. A decision is sent once, and the card goes when the log says that it is over.

/** @import { Approval, Suggestion } from '../types.js' */
/** @import { Bridge } from '../wire/bridge.js' */
/** @import { Deciding } from './decide.js' */

import { h, serverHtml } from '../dom.js';
import { firstLine, sentence } from '../format.js';
import { icon, toolIcon } from '../icons.js';
import { connectionNotes, decide } from './decide.js';
import { changeCounts } from './diff.js';
import { guarded } from './guard.js';
import { previewOf } from './preview.js';
import { planCard } from './plan.js';
import { questionCard } from './question.js';
import { reveal } from './reveal.js';
import { isStored, modeWords, placeOf, rulesOf, sessionSuggestion } from './rules.js';
import { moreBelow } from './seen.js';
import { isEdit, toolName, wholeTarget } from './target.js';
import { freshId } from '../wire/bridge.js';

/**
 * The card that fits an approval.
 *
 * @param {Approval} approval
 * @param {Deciding} deciding
 * @returns {HTMLElement}
 */
export function approvalCard(approval, deciding) {
  if ((approval.questions ?? []).length > 0) return questionCard(approval, deciding);
  if (approval.toolName === 'ExitPlanMode') return planCard(approval, deciding);
  return toolCard(approval, deciding);
}

/** How much a card of the list shows of what it asks about, in characters and lines. */
const LONGEST = 280;
const MOST_LINES = 6;

/** @type {Record<string, string>} */
const VERBS = {
  Bash: 'wants to run a command', Write: 'wants to write a file', Edit: 'wants to change a file', MultiEdit: 'wants to change a file',
  NotebookEdit: 'wants to change a notebook', Read: 'wants to read a file', WebFetch: 'wants to open a page', WebSearch: 'wants to search the web',
};

/**
 * @param {Approval} approval
 * @param {Deciding} deciding
 */
function toolCard(approval, deciding) {
  const { bridge, sessionId, project } = deciding;
  const name = toolName(approval.toolName);
  const description = typeof approval.input['description'] === 'string' ? approval.input['description'] : '';
  const foot = h('div', { class: 'approval-foot' });
  const card = h('section', { class: 'approval', tabindex: -1, 'aria-label': `Approval: ${name}`, 'data-approval': approval.id },
    h('header', { class: 'approval-head' },
      toolIcon(approval.toolName),
      h('h3', {}, h('strong', {}, name), ` ${VERBS[approval.toolName] ?? 'wants to run'}`)),
    description === '' ? null : h('p', { class: 'approval-what' }, description),
    approval.reason === undefined ? null : h('p', { class: 'approval-why' }, sentence(approval.reason)),
    h('div', { class: 'approval-body' }, previewOf(approval, project), moreBelow()),
    connectionNotes(),
    foot);
  const mayApprove = bridge.may('approve');
  const index = sessionSuggestion(approval);
  const choices = () => {
    const suggestion = index === undefined ? undefined : approval.suggestions?.[index];
    const suggestions = offered(approval, bridge);
    // Where nothing would be stored, nothing is called "always".
    const remembers = suggestions.some(([, other]) => isStored(other));
    const [only] = suggestions;
    const mode = suggestions.length === 1 && only?.[1].type === 'setMode' ? only : undefined;
    const further = !remembers && mode === undefined && suggestions.some(([at]) => at !== index);
    foot.replaceChildren(...(suggestion === undefined ? [] : [sessionRule(suggestion)]), h('div', { class: 'approval-buttons' },
      h('button', { class: 'button deny', type: 'button', disabled: !mayApprove, onclick: deny }, 'Deny…'),
      remembers ? h('button', { class: 'button', type: 'button', disabled: !mayApprove, onclick: always }, 'Always…') : null,
      further ? h('button', { class: 'button', type: 'button', disabled: !mayApprove, onclick: always }, 'For this session…') : null,
      mode === undefined ? null
        : h('button', {
          class: 'button', type: 'button', disabled: !mayApprove, ...guarded('allow'),
          onclick: () => decide(card, bridge.approveAlways(sessionId, approval, [mode[0]], true)),
        }, modeWords(mode[1].mode)),
      suggestion === undefined ? null
        : h('button', {
          class: 'button', type: 'button', disabled: !mayApprove, ...guarded('allow'),
          onclick: () => decide(card, bridge.approveAlways(sessionId, approval, [/** @type {number} */ (index)], true)),
        }, 'This session'),
      h('button', {
        class: 'button allow', type: 'button', disabled: !mayApprove, ...guarded('allow'),
        onclick: () => decide(card, bridge.approve(sessionId, approval)),
      }, 'Allow once')));
    reveal(foot);
  };
  const backToChoices = () => {
    choices();
    /** @type {HTMLElement | null} */ (foot.querySelector('button'))?.focus();
  };
  const deny = () => denyForm(foot, backToChoices, (message, stop) => {
    const held = stop ? deciding.beforeStop?.() : undefined;
    void decide(card, held === undefined ? bridge.reject(sessionId, approval, message, stop) : held.then(() => bridge.reject(sessionId, approval, message, stop)));
  });
  const always = () => alwaysForm(foot, approval, offered(approval, bridge), backToChoices, (picked) => decide(card, bridge.approveAlways(sessionId, approval, picked, false)));
  choices();
  if (!mayApprove) card.append(h('p', { class: 'muted small' }, 'This device may look, but not decide.'));
  return reveal(card);
}

/**
 * What may be allowed beyond the one request, with its index: a mode only by a device that may change it.
 *
 * @param {Approval} approval
 * @param {Bridge} bridge
 * @returns {[number, Suggestion][]}
 */
function offered(approval, bridge) {
  const may = (/** @type {Suggestion} */ { type, mode }) => type !== 'setMode' || (bridge.may('configure') && (mode !== 'bypassPermissions' || bridge.may('bypass')));
  return [...(approval.suggestions ?? []).entries()].filter(([, suggestion]) => may(suggestion));
}

/** What "this session" would let run from now on: nobody should have to guess. @param {Suggestion} suggestion */
function sessionRule(suggestion) {
  return h('p', { class: 'session-rule small muted' }, 'This session: ', rulesOf(suggestion).map((rule) => h('code', {}, rule)));
}

/**
 * @param {HTMLElement} place
 * @param {() => void} back
 * @param {(message: string, stop: boolean) => void} then
 */
function denyForm(place, back, then) {
  const reason = h('textarea', { class: 'field', rows: 2, placeholder: 'Tell the model why, or what to do instead (optional)', 'aria-label': 'Reason for the model' });
  const submit = h('button', { class: 'button deny strong', type: 'submit', ...guarded() }, 'Deny');
  place.replaceChildren(h('form', {
    class: 'deny-form',
    onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); then(reason.value.trim(), false); },
  },
  reason,
  h('div', { class: 'approval-buttons' },
    h('button', { class: 'button back', type: 'button', onclick: back }, 'Back'),
    h('button', { class: 'button', type: 'button', ...guarded(), onclick: () => then(reason.value.trim(), true) }, 'Deny and stop'),
    submit)));
  reason.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat) submit.click();
    if (event.key === 'Escape') back();
  });
  reason.focus();
}

/**
 * The rules that "always" would store: exactly these, exactly there.
 *
 * @param {HTMLElement} place
 * @param {Approval} approval
 * @param {[number, Suggestion][]} suggestions
 * @param {() => void} back
 * @param {(picked: number[]) => void} then
 */
function alwaysForm(place, approval, suggestions, back, then) {
  // Only a rule for what is asked about is chosen already; what goes further somebody has to choose.
  const first = sessionSuggestion(approval);
  const boxes = suggestions.map(([index, suggestion]) => {
    const box = h('input', { type: 'checkbox', checked: index === first });
    box.checked = index === first;
    return {
      box,
      index,
      suggestion,
      line: h('label', { class: 'rule' }, box, h('span', { class: 'rule-text' },
        rulesOf(suggestion).map((rule) => h('code', {}, rule)),
        h('span', { class: 'muted small' }, placeOf(suggestion)))),
    };
  });
  const chosen = () => boxes.filter(({ box }) => box.checked);
  const picked = () => chosen().map(({ index }) => index);
  const go = h('button', { class: 'button allow', type: 'submit', ...guarded('allow') }, 'Allow and remember');
  const hint = h('p', { class: 'small muted', role: 'status' });
  const look = () => {
    const none = chosen().length === 0;
    go.disabled = none;
    go.textContent = none || chosen().some(({ suggestion }) => isStored(suggestion)) ? 'Allow and remember' : 'Allow for this session';
    const words = none ? 'Choose what to allow.' : '';
    if (hint.textContent !== words) hint.textContent = words;
  };
  place.replaceChildren(h('form', {
    class: 'always-form', onchange: look,
    onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); then(picked()); },
  },
  h('p', { class: 'small muted' }, 'This is what will be allowed, and where it is kept:'),
  h('div', { class: 'rules' }, boxes.map(({ line }) => line)), hint,
  h('div', { class: 'approval-buttons' },
    h('button', { class: 'button back', type: 'button', onclick: back }, 'Back'), go)));
  look();
  reveal(place);
  (boxes.find(({ index }) => index === first) ?? boxes[0])?.box.focus();
}

/**
 * What a list shows of an approval: what it is, and the two answers that need no more words.
 *
 * @param {Approval} approval
 * @param {Deciding} deciding
 * @param {() => void} open shows the session
 * @returns {HTMLElement}
 */
export function compactApproval(approval, deciding, open) {
  const { bridge, sessionId, project } = deciding;
  const questions = approval.questions ?? [];
  const [question] = questions;
  const isPlan = approval.toolName === 'ExitPlanMode';
  const body = h('div', { class: 'asked', tabindex: -1, 'data-approval': approval.id });
  // Several cards have the same buttons: what each is about is its description.
  const about = `asked-${freshId()}`;
  const more = h('button', { class: 'button small', type: 'button', 'aria-describedby': about, onclick: open }, isPlan ? 'Read the plan' : question !== undefined ? 'Answer…' : 'Details');
  if (question !== undefined) {
    const simple = questions.length === 1 && question.multiSelect !== true && question.options.length <= 4;
    body.append(h('p', { class: 'asked-question', id: about }, question.question));
    body.append(h('div', { class: 'asked-buttons' },
      simple ? question.options.map((option) => h('button', {
        class: 'button small', type: 'button', 'aria-describedby': about, disabled: !bridge.may('approve'), title: option.description ?? '', ...guarded(),
        onclick: () => decide(body, bridge.answer(sessionId, approval, { [question.question]: option.label })),
      }, option.label)) : null, more), ...connectionNotes());
    return reveal(body);
  }
  const { diff } = approval.preview ?? {};
  const what = isPlan ? firstLine(serverHtml(h('div'), approval.preview?.html ?? '').textContent ?? '') : wholeTarget(approval.toolName, approval.input, project);
  // Nobody says yes here to what is not seen here; a change is seen where there is room for it.
  const fits = what.length <= LONGEST && what.split('\n').length <= MOST_LINES;
  const mayAllow = fits && !isPlan && !isEdit(approval.toolName);
  body.append(
    h('div', { class: 'asked-what' }, toolIcon(approval.toolName), h('strong', {}, isPlan ? 'Plan' : toolName(approval.toolName)),
      diff === undefined ? null : changeCounts(diff)),
    h('code', { class: 'asked-target', id: about }, fits ? what : `${what.split('\n').slice(0, MOST_LINES).join('\n').slice(0, LONGEST)}…`),
    h('div', { class: 'asked-buttons' },
      isPlan ? null : h('button', {
        class: 'button small deny', type: 'button', 'aria-describedby': about, disabled: !bridge.may('approve'), ...guarded(),
        onclick: () => decide(body, bridge.reject(sessionId, approval, '')),
      }, 'Deny'),
      !mayAllow ? null : h('button', {
        class: 'button small allow', type: 'button', 'aria-describedby': about, disabled: !bridge.may('approve'), ...guarded('allow'),
        onclick: () => decide(body, bridge.approve(sessionId, approval)),
      }, icon('check'), 'Allow'),
      more),
    ...connectionNotes());
  return reveal(body);
}
