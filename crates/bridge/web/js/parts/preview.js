// What exactly would happen: the command, the change, the plan, or the input as it is.

/** @import { Approval } from '../types.js' */

import { h, serverHtml } from '../dom.js';
import { diffCard } from './diff.js';

/**
 * What an approval is about, in full.
 *
 * @param {Approval} approval
 * @param {string | undefined} project
 * @returns {HTMLElement}
 */
export function previewOf(approval, project) {
  const { preview, input } = approval;
  if (preview?.diff !== undefined) return diffCard(preview.diff, { project });
  // One value needs no name: it is what the tool is about.
  const values = Object.values(input);
  if (preview?.kind === 'json' && values.length === 1 && typeof values[0] === 'string') {
    return h('pre', { class: 'preview code', tabindex: 0 }, values[0]);
  }
  if (preview?.html !== undefined) {
    const kind = preview.kind === 'plan' ? 'prose plan' : 'preview code';
    return serverHtml(h('div', { class: kind, tabindex: 0, role: 'group', 'aria-label': 'What it would do' }), preview.html);
  }
  const plain = typeof input['command'] === 'string' ? input['command']
    : typeof input['plan'] === 'string' ? input['plan'] : JSON.stringify(input, null, 2);
  return h('pre', { class: 'preview code', tabindex: 0 }, plain);
}
