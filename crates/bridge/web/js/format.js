// Numbers and names as people read them.

/** @param {number | null | undefined} dollars */
export function cost(dollars) {
  if (dollars === null || dollars === undefined || !Number.isFinite(dollars)) return '';
  if (dollars === 0) return '$0';
  return dollars < 0.01 ? '<$0.01' : `$${dollars.toFixed(2)}`;
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 0.05) return '<0.1 s';
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A duration that is still growing. @param {number} milliseconds */
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1000);
}

/**
 * How long ago, in the fewest letters that say it.
 *
 * @param {number} at
 * @param {number} [now]
 */
export function ago(at, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 5) return 'now';
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  if (hours < 24) return `${hours} h`;
  const days = Math.round(hours / 24);
  if (days < 30) return days === 1 ? 'yesterday' : `${days} days`;
  return new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
}

/** @param {number} count */
export function tokens(count) {
  if (count < 1000) return `${count}`;
  if (count < 100_000) return `${(count / 1000).toFixed(1)}k`;
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/**
 * `3 files`, `1 file`.
 *
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function count(number, one, many = `${one}s`) {
  return `${number} ${number === 1 ? one : many}`;
}

/** The last part of a path. @param {string | null | undefined} path */
export function basename(path) {
  const parts = (path ?? '').split('/').filter((part) => part !== '');
  return parts.at(-1) ?? '/';
}

/**
 * A path as seen from the project.
 *
 * @param {string} path
 * @param {string | undefined} project
 */
export function within(path, project) {
  return project !== undefined && path.startsWith(`${project}/`) ? path.slice(project.length + 1) : path;
}

/**
 * A project's path as seen from above the root that it is beneath.
 *
 * @param {string} path
 * @param {string[]} roots
 */
export function beneath(path, roots) {
  const root = roots.find((candidate) => path === candidate || path.startsWith(`${candidate}/`));
  return root === undefined || root === '/' ? path : basename(root) + path.slice(root.length);
}

/** @param {string} text */
export function firstLine(text) {
  return text.split('\n').find((line) => line.trim() !== '')?.trim() ?? '';
}

/** What the bridge or the browser says, as the beginning of a sentence. @param {unknown} error */
export function sentence(error) {
  const text = (error instanceof Error ? error.message : String(error)).trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The model's family and version, without what only machines need. @param {string | null | undefined} model */
export function modelName(model) {
  if (model === null || model === undefined || model === '') return 'Default model';
  const found = /^claude-(?:(\d[\d-]*?)-)?([a-z]+)(?:-(\d+)(?:-(\d{1,2}))?)?(?:-\d{8})?(\[1m\])?$/.exec(model);
  if (found === null) return model;
  const [, before, family = '', major, minor, long] = found;
  const version = before?.replace('-', '.') ?? [major, minor].filter((part) => part !== undefined).join('.');
  const name = family.charAt(0).toUpperCase() + family.slice(1);
  return [name, version, long === undefined ? '' : '1M'].filter((part) => part !== '').join(' ');
}

/** @type {Record<string, {name: string, what: string}>} */
export const MODES = {
  default: { name: 'Ask', what: 'Asks before it changes files or runs commands.' },
  acceptEdits: { name: 'Accept edits', what: 'Changes files without asking; asks before commands.' },
  plan: { name: 'Plan', what: 'Changes nothing; shows you a plan first.' },
  dontAsk: { name: 'Don’t ask', what: 'Denies anything no rule allows.' },
  bypassPermissions: { name: 'Bypass', what: 'Runs everything without asking. Only for disposable machines.' },
};

/** @param {string | null | undefined} mode */
export function modeName(mode) {
  return MODES[mode ?? 'default']?.name ?? mode ?? 'Ask';
}
