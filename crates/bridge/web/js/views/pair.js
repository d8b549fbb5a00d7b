// A browser that the bridge does not know, or knows no longer.

/** @import { App } from '../main.js' */

import { h } from '../dom.js';
import { sentence } from '../format.js';
import { icon } from '../icons.js';
import { keepCredential } from '../wire/credential.js';

/** What to do, by why the bridge does not know this browser. */
const UNPAIRED = {
  '': 'This browser is not paired yet. Open the pairing link that the bridge printed, or enter its code.',
  revoked: 'This device was revoked, or not used for 30 days. To use it again, run “pilothouse serve pair” and open the link, or enter its code.',
  updated: 'Pilothouse was updated, and this browser has to be paired again. Run “pilothouse serve pair” and open the link, or enter its code.',
  incomplete: 'This browser has lost its pairing. Run “pilothouse serve pair” and open the link, or enter its code.',
};

/** What this browser is called unless its user knows better. */
function deviceName() {
  const agent = navigator.userAgent;
  const browser = /Edg\//.test(agent) ? 'Edge' : /Firefox\//.test(agent) ? 'Firefox' : /Chrome\//.test(agent) ? 'Chrome' : /Safari\//.test(agent) ? 'Safari' : 'Browser';
  const system = /iPhone|iPad/.exec(agent)?.[0] ?? (/Android/.test(agent) ? 'Android' : /Mac OS/.test(agent) ? 'Mac' : /Windows/.test(agent) ? 'Windows' : /Linux/.test(agent) ? 'Linux' : 'unknown system');
  return `${browser} on ${system}`;
}

/**
 * The page that lets a browser in.
 *
 * @param {App} app
 * @param {string} code from the address, or empty
 * @param {() => void} paired
 * @returns {HTMLElement}
 */
export function pairView(app, code, paired) {
  const codeField = h('input', { class: 'field mono', type: 'text', value: code, required: true, autocapitalize: 'none', autocomplete: 'one-time-code', spellcheck: 'false' });
  const name = h('input', { class: 'field', type: 'text', value: deviceName(), required: true, maxlength: 60 });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const button = h('button', { class: 'button primary wide', type: 'submit' }, 'Pair this browser');
  return h('main', { class: 'pair' },
    h('div', { class: 'pair-card' },
      h('div', { class: 'pair-mark' }, icon('helm')),
      h('h1', { tabindex: -1 }, 'Pilothouse'),
      h('p', { class: 'muted' }, code !== ''
        ? 'Pairing lets this browser see your sessions and answer for you. You can revoke it at any time.'
        : UNPAIRED[app.link.unpairedBecause]),
      h('form', {
        class: 'stack',
        onsubmit: async (/** @type {Event} */ event) => {
          event.preventDefault();
          button.disabled = true;
          problem.textContent = '';
          try {
            // A whole link may have been pasted.
            const typed = /#pair=([^&\s]+)/.exec(codeField.value)?.[1] ?? codeField.value.trim();
            const { secret, path } = await app.bridge.http('pair', { code: typed, name: name.value.trim() });
            keepCredential(app.link.base, { secret, path });
            paired();
          } catch (error) {
            problem.textContent = sentence(error);
            button.disabled = false;
          }
        },
      },
      code === '' ? h('label', { class: 'labelled' }, h('span', {}, 'Pairing code'), codeField) : null,
      h('label', { class: 'labelled' }, h('span', {}, 'Name of this device'), name),
      problem, button)));
}
