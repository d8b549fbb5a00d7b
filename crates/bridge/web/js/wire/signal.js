// Somebody tells, others listen.

/**
 * A list of listeners.
 *
 * @template T
 */
export class Signal {
  /** @type {Set<(value: T) => void>} */
  #listeners = new Set();

  /**
   * Listens until the returned function is called.
   *
   * @param {(value: T) => void} listener
   * @returns {() => void}
   */
  on(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @param {T} value */
  tell(value) {
    for (const listener of [...this.#listeners]) listener(value);
  }
}
