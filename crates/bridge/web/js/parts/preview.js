// What exactly would happen: the command, the change, the plan, or the input as it is.

/** @import { Approval } from '../types.js' */

import { h, serverHtml } from '../dom.js';
import { diffCard } from './diff.js';
import { further } from './target.js';

/**
 * What an approval is about, in full: what its preview leaves out comes with it.
 *
 * @param {Approval} approval
 * @param {string | undefined} project
 * @returns {HTMLElement[]}
 */
export function previewOf(approval, project) {
  const { preview, input, toolName } = approval;
  const isCut = preview?.cut === true || preview?.diff?.cut === true;
  const rest = preview === undefined || preview.kind === 'json' ? [] : further(toolName, input);
  return [
    preferred(approval, project),
    ...(rest.length === 0 ? [] : [h('pre', { class: 'further', 'aria-label': 'Further input' }, rest.join('\n'))]),
    ...(isCut ? [wholeInput(input)] : []),
  ];
}

/** What was too long to be shown well is shown as it is. @param {Record<string, any>} input */
function wholeInput(input) {
  const button = h('button', { class: 'diff-more', type: 'button' }, 'Show the whole input');
  button.addEventListener('click', () => button.replaceWith(h('pre', { class: 'preview code', tabindex: 0 }, JSON.stringify(input, null, 2))));
  return button;
}

/**
 * @param {Approval} approval
 * @param {string | undefined} project
 * @returns {HTMLElement}
 */
function preferred(approval, project) {
  const { preview, input } = approval;
  if (preview?.diff !== undefined) return diffCard(preview.diff, { project });
  // One value needs no name: it is what the tool is about.
  const values = Object.values(input);
  if (preview?.kind === 'json' && values.length === 1 && typeof values[0] === 'string') {
    return h('pre', { class: 'preview code', tabindex: 0 }, values[0]);
  }
  if (preview?.html !== undefined) {
    const kind = preview.kind === 'plan' ? 'prose plan' : 'preview code';
    const whole = serverHtml(h('div', { class: kind, tabindex: 0, role: 'group', 'aria-label': 'What it would do' }), preview.html);
    // One box is one stop of the keyboard: what is in it wraps.
    for (const code of whole.querySelectorAll('pre')) code.removeAttribute('tabindex');
    return whole;
  }
  const plain = typeof input['command'] === 'string' ? input['command']
    : typeof input['plan'] === 'string' ? input['plan'] : JSON.stringify(input, null, 2);
  return h('pre', { class: 'preview code', tabindex: 0 }, plain);
}
