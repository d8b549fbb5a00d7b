// The page's own icons: strokes on a grid of 24.

const SVG = 'http://www.w3.org/2000/svg';

/** @type {Record<string, string>} */
const PATHS = {
  helm: 'M12 8.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8Z M12 4.6a7.4 7.4 0 1 0 0 14.8 7.4 7.4 0 0 0 0-14.8Z M12 1.8v6.8 M12 15.4v6.8 M1.8 12h6.8 M15.4 12h6.8 M4.8 4.8l4.8 4.8 M14.4 14.4l4.8 4.8 M19.2 4.8l-4.8 4.8 M9.6 14.4l-4.8 4.8',
  back: 'M15 5l-7 7 7 7',
  right: 'M9 6l6 6-6 6',
  down: 'M12 5v14 M6 13l6 6 6-6',
  plus: 'M12 5v14 M5 12h14',
  close: 'M6 6l12 12 M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  send: 'M12 19V5 M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  more: 'M12 5.5v.01 M12 12v.01 M12 18.5v.01',
  gear: 'M4 7h9 M17 7h3 M4 17h3 M11 17h9 M15 4.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4Z M9 14.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4Z',
  terminal: 'M5 7l5 5-5 5 M13 17h6',
  file: 'M6 3.5h8l4 4v13H6z M14 3.5v4h4',
  pencil: 'M4.5 19.5l1-4.5L16 4.5l3.5 3.5L9 18.5z M13.5 7l3.5 3.5',
  search: 'M10.5 4.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12Z M15 15l5 5',
  globe: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17Z M3.5 12h17 M12 3.5c5 5.5 5 11.5 0 17 M12 3.5c-5 5.5-5 11.5 0 17',
  agent: 'M6 9h12v9H6z M12 9V5.5 M12 4.5v.01 M9.5 13v1 M14.5 13v1 M3.5 12.5v2 M20.5 12.5v2',
  list: 'M9 6.5h11 M9 12h11 M9 17.5h11 M4.5 6.5v.01 M4.5 12v.01 M4.5 17.5v.01',
  question: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17Z M9.6 9.4c.3-2.9 4.8-2.8 4.8 0 0 1.8-2.4 1.9-2.4 3.9 M12 16.5v.01',
  map: 'M4 6l5-2 6 2 5-2v14l-5 2-6-2-5 2z M9 4v14 M15 6v14',
  image: 'M4 5h16v14H4z M4 16l5-5 4.5 4.5 2.5-2.5 4 4 M15.5 9v.01',
  clock: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17Z M12 7.5V12l3 2',
  bell: 'M6 16.5h12l-1.5-2.5v-4a4.5 4.5 0 0 0-9 0v4z M10.5 19.5h3',
  phone: 'M7.5 3h9v18h-9z M11 18h2',
  laptop: 'M5 5h14v10H5z M2.5 19h19',
  play: 'M8 5.5l11 6.5-11 6.5z',
  pause: 'M8.5 5.5v13 M15.5 5.5v13',
  wrench: 'M14.5 6.5a4 4 0 0 1 5-2l-2.5 2.5 1 2 2 1L22 7.5a4 4 0 0 1-5.5 5L8 21l-3-3 8.5-8.5a4 4 0 0 1 1-3Z',
  branch: 'M7 5v14 M17 8v1c0 3-3 3.5-10 5 M7 3.2a1.8 1.8 0 1 0 0 3.6 M17 4.7a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6Z',
  thought: 'M7 17.5a4.5 4.5 0 0 1-.5-9 5.5 5.5 0 0 1 10.5-1 4.5 4.5 0 0 1 .5 9z M8 20.5v.01',
  alert: 'M12 4.5l9 15H3z M12 10v4 M12 17v.01',
  info: 'M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17Z M12 11v5.5 M12 7.5v.01',
  folder: 'M3.5 6h6l2 2.5h9V19h-17z',
  history: 'M4 12a8 8 0 1 0 2.5-5.8L4 8.5 M4 4v4.5h4.5 M12 8v4.5l3 1.5',
  trash: 'M5 7h14 M9.5 7V4.5h5V7 M7 7l1 13h8l1-13',
  archive: 'M4 5h16v4H4z M5.5 9v10h13V9 M10 13h4',
  copy: 'M9 9h10v11H9z M15 9V4H5v11h4',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z',
  shield: 'M12 3.5l7 2.5v6c0 4.5-3 7-7 8.5-4-1.5-7-4-7-8.5V6z',
  attach: 'M19 11.5l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L12.5 5.2a3 3 0 0 1 4.3 4.3l-7 7a1.5 1.5 0 0 1-2.2-2.2l6.4-6.3',
};

/**
 * An icon. It says nothing to screen readers: its button or its neighbour does.
 *
 * @param {string} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('focusable', 'false');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', (Object.hasOwn(PATHS, name) ? PATHS[name] : PATHS['wrench']) ?? '');
  svg.append(path);
  return svg;
}

/** @type {Record<string, string>} */
const TOOLS = {
  Bash: 'terminal', BashOutput: 'terminal', KillShell: 'terminal', Read: 'file', NotebookRead: 'file', Write: 'pencil',
  Edit: 'pencil', MultiEdit: 'pencil', NotebookEdit: 'pencil', Glob: 'search', Grep: 'search', LS: 'folder',
  ToolSearch: 'search', WebSearch: 'globe', WebFetch: 'globe', Agent: 'agent', Task: 'agent', TodoWrite: 'list',
  AskUserQuestion: 'question', ExitPlanMode: 'map', EnterPlanMode: 'map', Skill: 'play',
};

/** The icon of a tool. @param {string} tool */
export function toolIcon(tool) {
  return icon((Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined) ?? (tool.startsWith('Task') ? 'list' : 'wrench'));
}
