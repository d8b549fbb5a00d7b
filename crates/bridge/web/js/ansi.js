// The output of terminal programs: colours become classes, everything else that is meant for a terminal is left out. Text
// stays text; nothing of it becomes HTML.

import { h } from './dom.js';

/**
 * An escape sequence: CSI with its final byte, OSC and other strings up to their terminator, or a short one. The parameters of
 * CSI are the first group, its final byte the second.
 */
// eslint-disable-next-line no-control-regex
const ESCAPE = /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])?|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?/g;

/** Control characters that a page cannot show. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0007\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g;

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/** The text without what is meant for a terminal. @param {string} text */
export function plainText(text) {
  return overwritten(text.replace(ESCAPE, ''));
}

/**
 * The text with its colours.
 *
 * @param {string} text
 * @returns {(string | HTMLElement)[]}
 */
export function ansiNodes(text) {
  if (!/[\u001b\u009b]/.test(text)) return [overwritten(text)];
  /** @type {(string | HTMLElement)[]} */
  const nodes = [];
  const style = { colour: '', bold: false, faint: false, italic: false, underline: false };
  const add = (/** @type {string} */ raw) => {
    const part = overwritten(raw);
    if (part === '') return;
    const classes = [style.colour, style.bold ? 'ansi-bold' : '', style.faint ? 'ansi-faint' : '', style.italic ? 'ansi-italic' : '', style.underline ? 'ansi-underline' : ''].filter((name) => name !== '');
    nodes.push(classes.length === 0 ? part : h('span', { class: classes.join(' ') }, part));
  };
  // A line that is drawn over is done with before its parts are told apart.
  const lines = text.split('\n').map(lastDrawn).join('\n');
  let from = 0;
  for (const found of lines.matchAll(ESCAPE)) {
    add(lines.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[2] === 'm') restyle(style, found[1] ?? '');
  }
  add(lines.slice(from));
  return nodes;
}

/**
 * @param {{colour: string, bold: boolean, faint: boolean, italic: boolean, underline: boolean}} style
 * @param {string} parameters
 */
function restyle(style, parameters) {
  const codes = parameters.split(/[;:]/).map((code) => Number(code) || 0);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) Object.assign(style, { colour: '', bold: false, faint: false, italic: false, underline: false });
    else if (code === 1) style.bold = true;
    else if (code === 2) style.faint = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 22) Object.assign(style, { bold: false, faint: false });
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code >= 30 && code <= 37) style.colour = `ansi-${COLOURS[code - 30]}`;
    else if (code >= 90 && code <= 97) style.colour = `ansi-${COLOURS[code - 90]}`;
    else if (code === 39) style.colour = '';
    else if (code === 38 || code === 48) {
      // One of 256 colours, or any: the first sixteen have names, the others are shown as text.
      const index = codes[at + 1] === 5 ? codes[at + 2] ?? 0 : -1;
      if (code === 38) style.colour = index >= 0 && index < 16 ? `ansi-${COLOURS[index % 8]}` : '';
      at += codes[at + 1] === 5 ? 2 : codes[at + 1] === 2 ? 4 : 0;
    }
  }
}

/** What is left of lines that were drawn over, as progress bars do. @param {string} text */
function overwritten(text) {
  return text.split('\n').map(lastDrawn).join('\n').replace(CONTROLS, '');
}

/** @param {string} line */
function lastDrawn(line) {
  if (!/[\r\b]/.test(line)) return line;
  const drawn = line.replace(/\r+$/, '').split('\r').at(-1) ?? '';
  // A backspace takes the letter before it.
  let [before, after] = ['', drawn];
  while (before !== after) [before, after] = [after, after.replace(/[^\b]\u0008/, '')];
  return after.replaceAll('\u0008', '');
}
