// Settings: how it looks, when it calls, who may come in.

/** @import { App } from '../main.js' */

import { h, refill } from '../dom.js';
import { icon } from '../icons.js';
import { isSubscribed, subscribe, unsubscribe } from '../push.js';
import { copy } from '../parts/copy.js';
import { chooseSheet, confirmSheet, failed, sheet, toast } from '../parts/sheet.js';
import { setTheme, theme } from '../theme.js';

/** What a device may do, as people say it. @type {Record<string, string>} */
const RIGHTS = { observe: 'view', input: 'send messages', approve: 'approve', configure: 'change settings', bypass: 'use Bypass mode', owner: 'act as the owner' };

/** @param {string[]} scopes */
function rights(scopes) {
  return `may ${scopes.map((scope) => RIGHTS[scope] ?? scope).join(', ')}`;
}

/** The settings. */
export class SettingsView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.title = h('h1', { class: 'chat-title', tabindex: -1 }, 'Settings');
    this.devices = h('div', { class: 'devices' });
    this.push = h('div', {});
    const { welcome } = app.link;
    this.element = h('section', { class: 'chat settings', 'aria-label': 'Settings' },
      h('header', { class: 'chat-head' },
        h('a', { class: 'icon-button back', href: '#/', 'aria-label': 'All sessions' }, icon('back')),
        h('div', { class: 'chat-names' }, this.title)),
      h('div', { class: 'settings-scroll', tabindex: 0, role: 'group', 'aria-label': 'All settings' }, h('div', { class: 'settings-column' },
        h('section', { class: 'panel' }, h('h2', {}, 'Appearance'), this.#themes()),
        h('section', { class: 'panel' }, h('h2', {}, 'Notifications'),
          h('p', { class: 'muted' }, 'Get a notification when a session needs you and the page is closed.'), this.push),
        h('section', { class: 'panel' }, h('h2', {}, 'Devices'), this.devices),
        h('section', { class: 'panel' }, h('h2', {}, 'About'),
          h('dl', { class: 'facts' },
            fact('Bridge', `Pilothouse ${welcome?.version ?? ''}`),
            fact('Agent', [welcome?.agent?.kind ?? 'claude', welcome?.agent?.version].filter((part) => part !== undefined).join(' ')),
            welcome?.agent?.note === undefined ? null : fact('', welcome.agent.note),
            fact('Sandbox', sandboxWords(welcome?.agent?.sandbox)),
            fact('This device', `${welcome?.device ?? ''}: ${rights(welcome?.scopes ?? [])}`),
            fact('Directories', (welcome?.roots ?? []).join(', '))))))); 
    void this.#drawDevices();
    void this.#drawPush();
  }

  focus() {
    this.title.focus({ preventScroll: true });
  }

  close() {}

  #themes() {
    const choices = /** @type {const} */ ([['auto', 'System'], ['light', 'Light'], ['dark', 'Dark']]);
    return h('div', { class: 'segments', role: 'radiogroup', 'aria-label': 'Colours' },
      choices.map(([id, name]) => h('label', { class: 'segment' },
        h('input', { type: 'radio', name: 'theme', value: id, checked: theme() === id, onchange: () => setTheme(id) }), h('span', {}, name))));
  }

  async #drawPush() {
    const state = await isSubscribed(this.app);
    const words = {
      unsupported: 'This browser cannot show notifications. On an iPhone, add Pilothouse to the home screen first.',
      denied: 'Notifications are blocked. Allow them in the browser’s settings.',
    };
    if (state === 'unsupported' || state === 'denied') {
      refill(this.push, h('p', { class: 'notice' }, icon('bell'), h('span', {}, words[state])));
      return;
    }
    const on = state === 'on';
    refill(this.push, h('button', {
      class: `button${on ? '' : ' primary'}`, type: 'button',
      onclick: async () => {
        try {
          await (on ? unsubscribe(this.app) : subscribe(this.app));
          toast(on ? 'Notifications off.' : 'Notifications on.');
        } catch (error) {
          failed(error);
        }
        void this.#drawPush();
      },
    }, icon('bell'), on ? 'Turn off' : 'Notify me'));
  }

  async #drawDevices() {
    if (!this.app.bridge.may('configure')) {
      refill(this.devices, h('p', { class: 'muted' }, 'This device may not manage other devices.'));
      return;
    }
    try {
      /** @type {{devices: {id: string, name: string, scopes: string[], addedAt: number}[]}} */
      const { devices } = await this.app.bridge.http('devices');
      const own = this.app.link.welcome?.device;
      refill(this.devices,
        h('ul', { class: 'device-list' }, devices.map((device) => h('li', { class: 'device', 'data-device': device.id },
          icon(/android|iphone|ipad|phone|mobile/i.test(device.name) ? 'phone' : 'laptop'),
          h('span', { class: 'device-text' },
            h('span', { class: 'device-name' }, h('strong', {}, device.name), device.name === own ? h('span', { class: 'tag' }, 'this device') : null),
            h('span', { class: 'muted small' }, `${rights(device.scopes)} · since ${new Date(device.addedAt).toLocaleDateString()}`)),
          h('button', { class: 'button small', type: 'button', 'aria-label': `Revoke ${device.name}`, onclick: () => this.#revoke(device) }, 'Revoke')))),
        h('button', { class: 'button primary', type: 'button', onclick: () => this.#pairAnother() }, icon('plus'), 'Pair another device'));
    } catch (error) {
      failed(error);
    }
  }

  /** @param {{id: string, name: string}} device */
  #revoke(device) {
    const isOwn = device.name === this.app.link.welcome?.device;
    confirmSheet(`Revoke ${device.name}?`, `${isOwn ? 'This is the device that you are using. ' : ''}It is signed out at once. To use it again, pair it again.`, 'Revoke', async () => {
      try {
        await this.app.bridge.http('devices/revoke', { device: device.id });
      } catch (error) {
        failed(error);
      }
      void this.#drawDevices();
    });
  }

  /** Another device may do as much as this one, or less. */
  #pairAnother() {
    const own = (/** @type {string[]} */ scopes) => scopes.filter((scope) => this.app.bridge.may(scope));
    chooseSheet('What may the device do?', [
      { name: 'Everything', what: 'Same as this device, without Bypass mode', icon: 'helm', pick: () => void this.#offer(own(['observe', 'input', 'approve', 'configure'])) },
      { name: 'View and approve', what: 'Follow sessions and answer their requests', icon: 'check', pick: () => void this.#offer(own(['observe', 'approve'])) },
      { name: 'View only', what: 'Follow sessions', icon: 'eye', pick: () => void this.#offer(['observe']) },
    ]);
  }

  /** @param {string[]} scopes */
  async #offer(scopes) {
    try {
      /** @type {{code: string, url: string, qr: string | null, reachable: boolean}} */
      const { url, qr, reachable } = await this.app.bridge.http('pair/offer', { scopes });
      if (!reachable) {
        unreachableSheet();
        return;
      }
      sheet('Pair another device', () => [
        h('p', { class: 'muted' }, 'Open this link on the other device within two minutes. It works once.'),
        qr === null ? null : h('img', { class: 'pair-picture', alt: 'QR code of the link', src: `data:image/svg+xml,${encodeURIComponent(qr)}` }),
        h('pre', { class: 'preview code', tabindex: 0 }, url),
        h('button', {
          class: 'button primary', type: 'button', onclick: () => copy(url),
        }, icon('copy'), 'Copy link'),
      ]);
    } catch (error) {
      failed(error);
    }
  }
}

/** A link to this very machine is of no use elsewhere: what to do instead. */
function unreachableSheet() {
  sheet('Pair another device', () => [
    h('p', {}, 'Other devices cannot reach this bridge: it listens on this machine only.'),
    h('p', { class: 'muted' }, 'Restart it with one of these, then pair the device:'),
    h('dl', { class: 'ways' },
      h('dt', {}, 'With a certificate'), h('dd', {}, h('code', {}, 'pilothouse serve --address 0.0.0.0 --tls-cert CERT --tls-key KEY')),
      h('dt', {}, 'Behind a proxy or tunnel'), h('dd', {}, h('code', {}, 'pilothouse serve --public-url https://NAME')),
      h('dt', {}, 'In a network you trust'), h('dd', {}, h('code', {}, 'pilothouse serve --address 0.0.0.0 --insecure-lan'))),
    h('p', { class: 'muted small' }, 'For another browser on this machine, run “pilothouse serve pair”.'),
  ]);
}

/**
 * What sessions are kept from, in words.
 *
 * @param {{mode: string, missing?: string[]} | undefined} sandbox
 */
function sandboxWords(sandbox) {
  if (sandbox === undefined) return 'off';
  const missing = sandbox.missing ?? [];
  return missing.length === 0 ? sandbox.mode : `${sandbox.mode}, without ${missing.join(', ')}`;
}

/**
 * @param {string} name
 * @param {string} value
 */
function fact(name, value) {
  return h('div', { class: 'fact' }, h('dt', {}, name), h('dd', {}, value));
}
