// Characters that cannot be seen, or that make others stand in another order, shown by their numbers: a card shows what runs.

import { h } from '../dom.js';

/**
 * Control and format characters, among them those that turn the direction of text; line and paragraph separators; and
 * everything that fonts draw as nothing. A variation selector or joiner inside of an emoji is part of it.
 */
const HIDDEN = /(?:(?<!\p{Extended_Pictographic})\u{FE0F}|(?<!\p{Extended_Pictographic}\u{FE0F}?)\u{200D}|(?![\n\t\u{FE0F}\u{200D}])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])/u;

/** In code, a space that no shell takes for one, too. */
const HIDDEN_IN_CODE = new RegExp(`${HIDDEN.source}|(?! )\\p{Zs}`, 'u');

/**
 * Shows what is hidden in the words of an element.
 *
 * @template {Element} E
 * @param {E} element
 * @returns {E}
 */
export function reveal(element) {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const found = [];
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = /** @type {Text} */ (node);
    if (pattern(text).test(text.data)) found.push(text);
  }
  for (const text of found) text.replaceWith(...parts(text.data, pattern(text)));
  return element;
}

/** @param {Text} text */
function pattern(text) {
  return text.parentElement?.closest('code, pre') === null ? HIDDEN : HIDDEN_IN_CODE;
}

/**
 * @param {string} text
 * @param {RegExp} hidden
 * @returns {(string | HTMLElement)[]}
 */
function parts(text, hidden) {
  /** @type {(string | HTMLElement)[]} */
  const out = [];
  let rest = text;
  for (let found = hidden.exec(rest); found !== null; found = hidden.exec(rest)) {
    const number = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    if (found.index > 0) out.push(rest.slice(0, found.index));
    out.push(h('span', { class: 'hidden-character', title: 'A character that cannot be seen' }, `U+${number}`));
    rest = rest.slice(found.index + found[0].length);
  }
  if (rest !== '') out.push(rest);
  return out;
}
