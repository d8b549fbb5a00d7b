// A decision on its way to the bridge.

/** @import { Message } from '../types.js' */
/** @import { Bridge } from '../wire/bridge.js' */

import { announce, h } from '../dom.js';
import { decisionProblem } from '../wire/bridge.js';
import { Lost } from '../wire/connection.js';
import { forget } from './guard.js';
import { failed, toast } from './sheet.js';

/**
 * @typedef {object} Deciding
 * @property {Bridge} bridge
 * @property {string} sessionId
 * @property {string | undefined} project
 * @property {() => Promise<void>} [beforeStop] keeps back what would be sent after a turn that is stopped
 */

/**
 * Sends a decision. Buttons rest until the answer is there; the truth comes from the log.
 *
 * @param {HTMLElement} card
 * @param {Promise<Message>} sent
 */
export async function decide(card, sent) {
  card.classList.remove('lost');
  card.classList.add('deciding');
  // A button that rests gives the focus away; the card keeps it, and hands it on when it goes.
  if (card.contains(document.activeElement)) card.focus({ preventScroll: true });
  const buttons = [...card.querySelectorAll('button')].filter((button) => !button.disabled);
  for (const button of buttons) button.disabled = true;
  const wake = () => {
    card.classList.remove('deciding');
    for (const button of buttons) button.disabled = false;
    forget(card);
  };
  try {
    const reply = await sent;
    const problem = decisionProblem(reply);
    if (problem !== null) toast(problem);
    // Where nothing waits any more, nothing may come that takes the card away.
    if (reply['status'] === 'gone') wake();
  } catch (error) {
    if (error instanceof Lost) {
      card.classList.add('lost');
      announce(LOST);
    } else failed(error);
    wake();
  }
}

const LOST = 'No connection. Your decision may not have arrived.';

/**
 * What a card says of the connection; which of them is seen follows from the page's state and from what became of the last
 * decision. Nothing is decided without a connection, and nothing is kept to be sent later.
 */
export function connectionNotes() {
  return [
    h('p', { class: 'connection-note away' }, 'No connection. Decisions are not sent.'),
    h('p', { class: 'connection-note lost-away' }, LOST),
    h('p', { class: 'connection-note lost-back' }, 'The connection broke. Still open: decide again.'),
  ];
}
