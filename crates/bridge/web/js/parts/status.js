// The line below the composer: mode, model, context, cost. The first two change when tapped.

/** @import { Session } from '../log/session.js' */
/** @import { SessionView } from '../types.js' */
/** @import { Bridge } from '../wire/bridge.js' */

import { h, refill } from '../dom.js';
import { MODES, modeName, modelName } from '../format.js';
import { icon } from '../icons.js';
import { chooseSheet, failed } from './sheet.js';

const MODELS = [
  { alias: '', name: 'Default', what: 'As set up' },
  { alias: 'opus', name: 'Opus', what: 'For the hardest work' },
  { alias: 'sonnet', name: 'Sonnet', what: 'For most work' },
  { alias: 'haiku', name: 'Haiku', what: 'Quick and light' },
];

/** The status line of a session. */
export class StatusLine {
  element = h('div', { class: 'status-line' });
  #shown = '';
  /** @type {{mode: string, model: string | undefined}} */
  #now = { mode: 'default', model: undefined };

  /**
   * @param {Bridge} bridge
   * @param {Session} session
   */
  constructor(bridge, session) {
    this.bridge = bridge;
    this.session = session;
  }

  /** @param {SessionView | undefined} view */
  update(view) {
    const { transcript } = this.session;
    const mode = transcript.mode ?? view?.permissionMode ?? 'default';
    const model = transcript.model ?? view?.model;
    this.#now = { mode, model };
    const context = view?.contextPercent ?? transcript.contextPercent;
    const spent = Math.max(transcript.cost, view?.cost ?? 0);
    const may = this.bridge.may('configure');
    const words = this.bridge.cost(spent);
    const shown = JSON.stringify([mode, model, context, words, may]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    refill(this.element,
      h('button', { class: `chip mode-${mode}`, type: 'button', disabled: !may, 'aria-label': `Mode: ${modeName(mode)}. Change`, onclick: () => this.#chooseMode(mode) }, icon('shield'), modeName(mode)),
      h('button', { class: 'chip', type: 'button', disabled: !may, 'aria-label': `Model: ${modelName(model)}. Change`, onclick: () => this.#chooseModel(model) }, icon('agent'), modelName(model)),
      h('span', { class: 'grow' }),
      context === undefined ? null : h('span', { class: `figure${context >= 80 ? ' high' : ''}`, title: 'How full the model’s context is' },
        meter(context), `${Math.round(context)}%`, h('span', { class: 'unseen' }, ' of the context used')),
      words === '' ? null : h('span', { class: 'figure', title: 'Cost of this session' }, words));
  }

  /** What is chosen here, for where there is no room for this line. @returns {{name: string, what: string, icon: string, pick: () => void}[]} */
  get choices() {
    const { mode, model } = this.#now;
    return [
      { name: `Mode: ${modeName(mode)}`, what: MODES[mode]?.what ?? '', icon: 'shield', pick: () => this.#chooseMode(mode) },
      { name: `Model: ${modelName(model)}`, what: 'Choose another', icon: 'agent', pick: () => this.#chooseModel(model) },
    ];
  }

  /** @param {string} mode */
  #chooseMode(mode) {
    const names = Object.entries(MODES).filter(([id]) => id !== 'bypassPermissions' || this.bridge.may('bypass'));
    chooseSheet('Mode', names.map(([id, { name, what }]) => ({
      name, what, chosen: id === mode, danger: id === 'bypassPermissions',
      pick: () => void this.bridge.setMode(this.session.id, id).catch(failed),
    })));
  }

  /** @param {string | undefined} model */
  #chooseModel(model) {
    const set = (/** @type {string} */ alias) => void this.bridge.setModel(this.session.id, alias).catch(failed);
    const field = h('input', { class: 'field', type: 'text', placeholder: 'Other model', 'aria-label': 'Model name' });
    const dialog = chooseSheet('Model',
      MODELS.map(({ alias, name, what }) => ({ name, what, chosen: alias !== '' && (model ?? '').includes(alias), pick: () => set(alias) })),
      [h('form', {
        class: 'inline-form',
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (field.value.trim() !== '') set(field.value.trim());
          dialog.close();
        },
      }, field, h('button', { class: 'button', type: 'submit' }, 'Use'))]);
  }
}

/** A small ring that fills. @param {number} percent */
function meter(percent) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('class', 'meter');
  svg.setAttribute('aria-hidden', 'true');
  for (const [kind, share] of /** @type {const} */ ([['track', 100], ['fill', percent]])) {
    const circle = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
    circle.setAttribute('class', `meter-${kind}`);
    circle.setAttribute('cx', '10');
    circle.setAttribute('cy', '10');
    circle.setAttribute('r', '7.5');
    circle.setAttribute('pathLength', '100');
    circle.setAttribute('stroke-dasharray', `${share} 100`);
    circle.setAttribute('transform', 'rotate(-90 10 10)');
    svg.append(circle);
  }
  return svg;
}
