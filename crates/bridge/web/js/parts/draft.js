// What is typed and not sent yet: it outlives a reload.

const PLACE = 'pilothouse.draft.';

/** @param {string} key @returns {string} */
export function draft(key) {
  try {
    return sessionStorage.getItem(PLACE + key) ?? '';
  } catch {
    return '';
  }
}

/**
 * @param {string} key
 * @param {string} text
 */
export function keepDraft(key, text) {
  try {
    if (text === '') sessionStorage.removeItem(PLACE + key);
    else sessionStorage.setItem(PLACE + key, text);
  } catch {
    // A draft that cannot be kept is one that a reload loses.
  }
}
