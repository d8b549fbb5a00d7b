// Where the user writes: words, pictures, commands.

/** @import { Delivery, Image } from '../types.js' */

import { h, refill } from '../dom.js';
import { icon } from '../icons.js';
import { TOO_LARGE } from '../log/outbox.js';
import { Completion } from './completion.js';
import { draft, keepDraft } from './draft.js';
import { readImages } from './images.js';
import { failed, toast } from './sheet.js';

/** @type {{delivery: Delivery, name: string, what: string}[]} */
const DELIVERIES = [
  { delivery: 'queue', name: 'Queue', what: 'Sent when this turn ends' },
  { delivery: 'steer', name: 'Steer', what: 'Sent into the running turn' },
  { delivery: 'interrupt', name: 'Interrupt', what: 'Stops the running turn first' },
];

/** A field that is higher has a text of more than three lines, in pixels. */
const TALL = 96;

/** The composer. */
export class Composer {
  element = h('form', { class: 'composer' });
  /** @type {Image[]} */
  #images = [];
  /** @type {Delivery} */
  #delivery = 'queue';
  #running = false;

  /**
   * @param {object} to
   * @param {(text: string, images: Image[], delivery: Delivery) => void} to.send
   * @param {(text: string, images: Image[]) => boolean} to.isTooLarge
   * @param {() => void} to.interrupt
   * @param {() => string[]} to.commands
   * @param {string} to.draftKey where an unfinished message is kept
   */
  constructor(to) {
    this.to = to;
    this.field = h('textarea', {
      class: 'composer-field', rows: 1, dir: 'auto', placeholder: 'Message', 'aria-label': 'Message', autocapitalize: 'sentences', enterkeyhint: 'enter',
    });
    this.field.value = draft(to.draftKey);
    this.completion = new Completion(this.field, to.commands);
    this.thumbs = h('div', { class: 'thumbs' });
    this.deliveries = h('div', { class: 'deliveries', role: 'radiogroup', 'aria-label': 'When to send' },
      DELIVERIES.map(({ delivery, name, what }) => h('label', { class: 'delivery', title: what },
        h('input', { type: 'radio', name: `delivery-${to.draftKey}`, value: delivery, checked: delivery === 'queue', onchange: () => { this.#delivery = delivery; } }),
        h('span', {}, name))));
    const files = h('input', { type: 'file', accept: 'image/*', multiple: true, class: 'unseen', tabindex: -1, 'aria-label': 'Pictures' });
    files.addEventListener('change', () => {
      void this.#attach([...(files.files ?? [])]);
      files.value = '';
    });
    this.stopButton = h('button', { class: 'round stop', type: 'button', 'aria-label': 'Stop', title: 'Stop the running turn', onclick: () => to.interrupt() }, icon('stop'));
    this.sendButton = h('button', { class: 'round send', type: 'submit', 'aria-label': 'Send' }, icon('send'));
    this.element.append(
      this.completion.element, this.thumbs, this.deliveries,
      h('div', { class: 'composer-row' },
        h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Attach pictures', onclick: () => files.click() }, icon('image')),
        files, this.field, this.stopButton, this.sendButton));
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.field.addEventListener('keydown', (event) => this.#key(event));
    this.field.addEventListener('input', () => this.#changed());
    this.field.addEventListener('paste', (event) => {
      const pictures = [...(event.clipboardData?.files ?? [])].filter((file) => file.type.startsWith('image/'));
      if (pictures.length === 0) return;
      event.preventDefault();
      void this.#attach(pictures);
    });
    this.element.addEventListener('dragover', (event) => event.preventDefault());
    this.element.addEventListener('drop', (event) => {
      event.preventDefault();
      void this.#attach([...(event.dataTransfer?.files ?? [])]);
    });
    this.stopButton.hidden = true;
    this.#changed();
  }

  /** Whether a turn runs, so that there is something to stop and a choice of when to send. @param {boolean} running */
  setRunning(running) {
    if (running === this.#running) return;
    this.#running = running;
    // A button that goes away takes the focus with it: the field is next to it.
    if (!running && document.activeElement === this.stopButton) this.focus();
    this.stopButton.hidden = !running;
    this.#changed();
  }

  focus() {
    this.field.focus({ preventScroll: true });
  }

  /**
   * Takes messages back that were to be sent: they stand below what is typed here.
   *
   * @param {{text: string, images: Image[]}[]} messages
   */
  takeBack(messages) {
    const texts = [this.field.value.trimEnd(), ...messages.map(({ text }) => text)];
    this.field.value = texts.filter((text) => text.trim() !== '').join('\n\n');
    this.#images.push(...messages.flatMap(({ images }) => images));
    this.#changed();
  }

  #submit() {
    const text = this.field.value.trim();
    if (text === '' && this.#images.length === 0) return;
    if (this.to.isTooLarge(text, this.#images)) return failed(TOO_LARGE);
    this.to.send(text, this.#images, this.#running ? this.#delivery : 'queue');
    this.field.value = '';
    this.#images = [];
    // How the last one was sent is not how the next one is meant.
    this.#delivery = 'queue';
    for (const choice of this.deliveries.querySelectorAll('input')) choice.checked = choice.value === 'queue';
    this.completion.close();
    this.#changed();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (this.completion.key(event)) {
      this.#changed();
      return;
    }
    // On a phone the return key makes a new line, as everywhere there; the button sends.
    const typing = matchMedia('(pointer: fine)').matches;
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && (typing || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#submit();
    }
  }

  /** @param {File[]} files */
  async #attach(files) {
    const { images, problems } = await readImages(files, this.#images.length);
    this.#images.push(...images);
    for (const problem of problems) toast(problem);
    this.#changed();
  }

  #changed() {
    const empty = this.field.value.trim() === '' && this.#images.length === 0;
    this.sendButton.disabled = empty;
    // While a turn runs and nothing is written, stopping is the only thing to do here.
    this.sendButton.hidden = this.#running && empty;
    this.deliveries.hidden = !this.#running || empty;
    this.field.style.height = 'auto';
    // A long text has the whole width, with the buttons below, until it is gone: what changes back and forth cannot be typed in.
    if (this.field.value === '') this.element.classList.remove('tall');
    else if (this.field.scrollHeight > TALL) this.element.classList.add('tall');
    this.field.style.height = `${Math.min(this.field.scrollHeight, innerHeight * 0.35)}px`;
    keepDraft(this.to.draftKey, this.field.value);
    this.completion.update();
    refill(this.thumbs, this.#images.map((image, index) => h('div', { class: 'thumb' },
      h('img', { alt: `Picture ${index + 1}`, src: `data:${image.mediaType};base64,${image.data}` }),
      h('button', {
        class: 'thumb-remove', type: 'button', 'aria-label': `Remove picture ${index + 1}`,
        onclick: () => { this.#images.splice(index, 1); this.#changed(); },
      }, icon('close')))));
  }
}
