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
}
