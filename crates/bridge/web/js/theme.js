// Light, dark, or what the system says.

const PLACE = 'pilothouse.theme';

/** @returns {'auto' | 'light' | 'dark'} */
export function theme() {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'auto';
}

/** @param {'auto' | 'light' | 'dark'} chosen */
export function setTheme(chosen) {
  if (chosen === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
  try {
    localStorage.setItem(PLACE, chosen);
  } catch {
    // It holds until the page is closed.
  }
  colourFrame();
}

/** The browser's own frame around the page has the page's colour, also where the system would have the other one. */
export function colourFrame() {
  const metas = /** @type {HTMLMetaElement[]} */ ([...document.querySelectorAll('meta[name="theme-color"]')]);
  const [light, dark] = metas;
  if (light === undefined || dark === undefined) return;
  light.media = theme() === 'auto' ? '(prefers-color-scheme: light)' : theme() === 'light' ? 'all' : 'not all';
  dark.media = theme() === 'auto' ? '(prefers-color-scheme: dark)' : theme() === 'dark' ? 'all' : 'not all';
}
