// Decisions are armed: a button that decides works only once its user can have seen what it decides about. One that is new,
// has moved, was covered or was out of sight is not armed for a moment, so that the second tap of a double tap, or one that
// meets a card that has just moved under the finger, decides nothing. A press that came too soon begins that moment anew:
// whoever taps and taps has not looked.
//
// Every button with `data-decides` is guarded, wherever it stands: `data-decides="allow"` also waits until all of what it
// would allow has been seen.

/** @import { Connection } from '../wire/connection.js' */

import { announce } from '../dom.js';
import { isAllSeen, look } from './seen.js';

/** How long a button must have been shown, in the same place, before it decides. */
export const ARMED_AFTER = 600;

/** How often places are compared. Between two looks a press compares for itself. */
const LOOK_EVERY = 80;

/** A button that moved by less is where it was: a press itself moves it by one pixel. */
const STILL = 4;

/** How long a press that decided nothing says so. */
const SAID_FOR = 1200;

/** Why a press on a button that is not armed decides nothing. */
const TOO_SOON = 'Too soon';

/** @typedef {{left: number, top: number, since: number}} Place */

/** Where each button is, and since when. @type {WeakMap<Element, Place>} */
const places = new WeakMap();

/** What a finger or a key went down on, and when: a press is meant when it begins. @type {{button: Element, at: number} | null} */
let press = null;

let looking = false;

/** @type {Connection | null} */
let link = null;

/**
 * What makes a button a guarded one, not yet armed.
 *
 * @param {'' | 'allow'} kind
 */
export function guarded(kind = '') {
  return { 'data-decides': kind, 'aria-disabled': 'true' };
}

/** Begins to guard. @param {Connection} connection */
export function guardDecisions(connection) {
  link = connection;
  const rearm = () => {
    forget(document);
    watch();
  };
  let isLive = !connection.isLive;
  const look = () => {
    if (connection.isLive === isLive) return;
    isLive = connection.isLive;
    document.documentElement.classList.toggle('offline', !isLive);
    rearm();
  };
  connection.changed.on(look);
  connection.pulse.on(look);
  look();
  // Where somebody has come back to, nobody knows yet what is there.
  document.addEventListener('visibilitychange', rearm);
  addEventListener('pageshow', rearm);
  document.addEventListener('pointerdown', (event) => began(event), { capture: true });
  document.addEventListener('pointercancel', () => { press = null; }, { capture: true });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    // A key that is held down presses again and again, whatever has the focus by then.
    if (event.repeat && decider(event) !== null) event.preventDefault();
    else began(event);
  }, { capture: true });
  document.addEventListener('click', (event) => pressed(event), { capture: true });
}

/** Looks at the buttons from now on: to be called when one is shown. */
export function watch() {
  if (looking) return;
  looking = true;
  again();
}

/** The buttons of a card are as new. @param {ParentNode} card */
export function forget(card) {
  for (const button of buttons(card)) places.delete(button);
  update();
}

/** @param {ParentNode} root @returns {HTMLButtonElement[]} */
function buttons(root) {
  return [...root.querySelectorAll('button')].filter((button) => button.dataset['decides'] !== undefined);
}

/** @param {Event} event @returns {HTMLButtonElement | null} */
function decider(event) {
  return event.target instanceof Element ? event.target.closest('button[data-decides]') : null;
}

/** In a frame, as only what is drawn was shown: a page that nobody sees draws none. */
function again() {
  requestAnimationFrame(() => {
    const there = buttons(document);
    for (const card of document.querySelectorAll('.approval')) look(card);
    for (const button of there) settle(button, performance.now());
    update();
    looking = there.length > 0;
    if (looking) setTimeout(again, LOOK_EVERY);
  });
}

/**
 * Compares where a button is with where it was.
 *
 * @param {HTMLButtonElement} button
 * @param {number} now
 * @returns {Place | undefined} nothing when it is not in sight
 */
function settle(button, now) {
  const { left, top } = button.getBoundingClientRect();
  const known = places.get(button);
  if (!isInSight(button)) {
    places.delete(button);
    return undefined;
  }
  const isStill = known !== undefined && Math.abs(known.left - left) < STILL && Math.abs(known.top - top) < STILL;
  if (isStill) return known;
  const place = { left, top, since: now };
  places.set(button, place);
  return place;
}

/** Whether a button is there to be pressed, and what a list shows of its request is all in view. @param {HTMLButtonElement} button */
function isInSight(button) {
  const { left, top, width, height } = button.getBoundingClientRect();
  if (width === 0 || document.visibilityState !== 'visible') return false;
  const hit = document.elementFromPoint(left + width / 2, top + height / 2);
  if (hit === null || !button.contains(hit)) return false;
  const words = button.closest('.asked')?.querySelector('.asked-target, .asked-question');
  const frame = button.closest('.list-scroll')?.getBoundingClientRect();
  if (words === null || words === undefined || frame === undefined) return true;
  const shown = words.getBoundingClientRect();
  return shown.height === 0 || (shown.top >= frame.top - 1 && shown.bottom <= frame.bottom + 1);
}

/**
 * Why a press decides nothing; nothing when it does.
 *
 * @param {HTMLButtonElement} button
 * @param {number} at
 * @returns {string}
 */
function objection(button, at) {
  if (link?.isLive !== true) return 'No connection';
  const place = places.get(button);
  if (place === undefined || at - place.since < ARMED_AFTER) return TOO_SOON;
  const card = button.closest('.approval');
  if (button.dataset['decides'] === 'allow' && card !== null && !isAllSeen(card)) return 'Read to the end';
  return '';
}

/** No button has been shown for any time yet. */
function restart() {
  const now = performance.now();
  for (const button of buttons(document)) {
    const place = places.get(button);
    if (place !== undefined) place.since = now;
  }
  update();
}

/** Shows which buttons are armed. */
function update() {
  const now = performance.now();
  for (const button of buttons(document)) {
    const isArmed = objection(button, now) === '';
    if (isArmed === !button.hasAttribute('aria-disabled')) continue;
    if (isArmed) button.removeAttribute('aria-disabled');
    else button.setAttribute('aria-disabled', 'true');
  }
}

/** @param {Event} event */
function began(event) {
  const button = decider(event);
  press = button === null ? null : { button, at: event.timeStamp };
}

/** @param {MouseEvent} event */
function pressed(event) {
  const button = decider(event);
  const began = press;
  press = null;
  if (button === null || button.disabled) return;
  settle(button, performance.now());
  const why = objection(button, began?.button === button ? began.at : event.timeStamp);
  if (why === '') return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (why === TOO_SOON) restart();
  say(button, why);
}

/** Says on the button itself why nothing was decided: what moves nothing else is missed by nobody. @param {HTMLButtonElement} button @param {string} why */
function say(button, why) {
  button.dataset['said'] = why;
  announce(`${why}. Nothing was decided.`);
  setTimeout(() => { delete button.dataset['said']; }, SAID_FOR);
}
