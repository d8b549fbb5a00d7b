// Slash commands, completed from the session's own list.

import { announce, h } from '../dom.js';
import { count } from '../format.js';

const MOST = 8;

/** The list that opens above a field whose text begins with a slash. */
export class Completion {
  element = h('ul', { class: 'completion', role: 'listbox', id: 'completion', 'aria-label': 'Commands' });
  /** @type {string[]} */
  #found = [];
  #at = 0;
  #closedFor = '';

  /**
   * @param {HTMLTextAreaElement} field
   * @param {() => string[]} commands
   */
  constructor(field, commands) {
    this.field = field;
    this.commands = commands;
    // A field of several lines cannot be a combobox; that there is a list is announced instead.
    field.setAttribute('aria-controls', 'completion');
    field.setAttribute('aria-autocomplete', 'list');
    this.element.hidden = true;
  }

  close() {
    this.#found = [];
    this.#draw();
  }

  /** The text has changed. */
  update() {
    const text = this.field.value;
    const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
    if (text !== this.#closedFor) this.#closedFor = '';
    if (typed === undefined || this.#closedFor !== '') return this.close();
    const commands = this.commands();
    const starts = commands.filter((command) => command.toLowerCase().startsWith(typed));
    const within = commands.filter((command) => !starts.includes(command) && command.toLowerCase().includes(typed));
    this.#found = [...starts, ...within].slice(0, MOST);
    if (this.#found.length === 1 && this.#found[0] === typed) this.#found = [];
    this.#at = Math.min(this.#at, Math.max(0, this.#found.length - 1));
    this.#draw();
  }

  /** Whether a key was for the list. @param {KeyboardEvent} event */
  key(event) {
    if (this.#found.length === 0) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      this.#at = (this.#at + step + this.#found.length) % this.#found.length;
      this.#draw();
    } else if (event.key === 'Enter' || event.key === 'Tab') this.#take(this.#found[this.#at] ?? '');
    else if (event.key === 'Escape') {
      this.#closedFor = this.field.value;
      this.close();
    } else return false;
    event.preventDefault();
    return true;
  }

  /** @param {string} command */
  #take(command) {
    this.field.value = `/${command} `;
    this.close();
    this.field.focus();
    this.field.dispatchEvent(new Event('input'));
  }

  #draw() {
    const open = this.#found.length > 0;
    if (open && this.element.hidden) announce(`${count(this.#found.length, 'command')}: choose with the arrow keys`);
    this.element.hidden = !open;
    if (open) this.field.setAttribute('aria-activedescendant', `completion-${this.#at}`);
    else this.field.removeAttribute('aria-activedescendant');
    this.element.replaceChildren(...this.#found.map((command, index) => h('li', {
      role: 'option', id: `completion-${index}`, class: 'completion-item', 'aria-selected': String(index === this.#at),
      onpointerdown: (/** @type {Event} */ event) => { event.preventDefault(); this.#take(command); },
    }, `/${command}`)));
  }
}
