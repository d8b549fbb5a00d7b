// What this browser proves who it is with: a secret in the page's storage, beside a cookie that scripts do not see. Browsers
// send cookies to every port of a host; the storage belongs to this origin alone.

/** @typedef {{secret: string, path: string}} Credential `path` is where this page's cookie is sent to, relative to the page */

/** Where the worker, which has no storage, finds it. */
const SHELF = 'pilothouse-device';

/** What is kept where storage is forbidden: then it lasts as long as the page. @type {Map<string, Credential>} */
const unstored = new Map();

/** Bridges behind one proxy share an origin, not a path. @param {URL} base */
function place(base) {
  return `pilothouse.device ${base.pathname}`;
}

/** @param {URL} base @returns {Credential | null} */
export function credential(base) {
  try {
    const kept = JSON.parse(localStorage.getItem(place(base)) ?? 'null');
    if (typeof kept?.secret === 'string' && typeof kept?.path === 'string') return kept;
  } catch {
    // Forbidden, or not what was put there.
  }
  return unstored.get(place(base)) ?? null;
}

/**
 * @param {URL} base
 * @param {Credential} fresh
 */
export function keepCredential(base, fresh) {
  unstored.set(place(base), fresh);
  try {
    localStorage.setItem(place(base), JSON.stringify(fresh));
  } catch {
    // Then this browser is paired until the page is closed.
  }
}

/** Lets the worker have it, where there is one: it subscribes again while no page is open. @param {URL} base */
export async function shareWithWorker(base) {
  const own = credential(base);
  if (own === null || !('caches' in window)) return;
  const shelf = await caches.open(SHELF);
  await shelf.put(new URL('device', base), new Response(JSON.stringify(own)));
}

/**
 * A request to the bridge as this device.
 *
 * @param {URL} base
 * @param {string} path
 * @param {RequestInit} [how]
 */
export function fetchAs(base, path, how = {}) {
  const own = credential(base);
  const url = new URL(`${own?.path ?? ''}${path}`, base);
  const headers = new Headers(how.headers);
  if (own !== null) headers.set('pilothouse-page', own.secret);
  return fetch(url, { ...how, headers });
}
