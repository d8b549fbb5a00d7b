// The worker: keeps the page's files for a bad network, and calls the user when a session needs one.

const SHELL = 'pilothouse-shell';
/** Scripts and styles, whose addresses have the page's version in them: what was once kept is right for ever. */
const VERSIONED = /^v\/[0-9a-f]+\/(js|css)\/[\w./-]+$/;
/** What else the page consists of; everything that is not named here is the bridge's own business and never kept. */
const KEPT = /^(|index\.html|manifest\.webmanifest|icons\/[\w.-]+)$/;

/** @type {any} */
const worker = self;
const base = new URL('.', worker.location.href);

worker.addEventListener('install', (/** @type {any} */ event) => {
  worker.skipWaiting();
  event.waitUntil(keepAll());
});
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('fetch', (/** @type {any} */ event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) return;
  const name = url.pathname.slice(base.pathname.length);
  if (VERSIONED.test(name)) event.respondWith(kept(event));
  else if (KEPT.test(name)) event.respondWith(fresh(event));
});

/** Keeps all of the page at once: the first visit may be the last one with a network. */
async function keepAll() {
  const answer = await fetch(base, { cache: 'no-cache' });
  if (!answer.ok) return;
  const shell = await caches.open(SHELL);
  await keepIndex(base.href, answer.clone());
  const named = [...(await answer.text()).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, name = '']) => new URL(name, base).href);
  await shell.addAll([...new Set(named)]);
}

/** The kept file, or the bridge's. @param {any} event */
async function kept(event) {
  const shell = await caches.open(SHELL);
  const found = await shell.match(event.request);
  if (found !== undefined) return found;
  const answer = await fetch(event.request);
  if (answer.ok) event.waitUntil(shell.put(event.request, answer.clone()));
  return answer;
}

/** The file from the bridge, or the last one that it gave. @param {any} event */
async function fresh(event) {
  try {
    const answer = await fetch(event.request);
    // The page does not wait until its copy is kept.
    if (answer.ok) event.waitUntil(event.request.mode === 'navigate' ? keepIndex(base.href, answer.clone()) : keep(event.request, answer.clone()));
    return answer;
  } catch (error) {
    const shell = await caches.open(SHELL);
    const found = await shell.match(event.request.mode === 'navigate' ? base.href : event.request, { ignoreSearch: true });
    if (found === undefined) throw error;
    return found;
  }
}

/**
 * @param {Request} request
 * @param {Response} answer
 */
async function keep(request, answer) {
  await (await caches.open(SHELL)).put(request, answer);
}

/**
 * Keeps the index, and forgets files that it does not name any more.
 *
 * @param {string} address
 * @param {Response} answer
 */
async function keepIndex(address, answer) {
  const shell = await caches.open(SHELL);
  const index = await answer.clone().text();
  await shell.put(address, answer);
  for (const { url } of await shell.keys()) {
    const name = new URL(url).pathname.slice(base.pathname.length);
    if (VERSIONED.test(name) && !index.includes(`"${name}"`)) await shell.delete(url);
  }
}

worker.addEventListener('push', (/** @type {any} */ event) => {
  /** @type {{title?: string, body?: string, sessionId?: string, tag?: string}} */
  let news = {};
  try {
    news = event.data?.json() ?? {};
  } catch {
    // An empty or broken message still means that somebody is needed.
  }
  event.waitUntil(worker.registration.showNotification(news.title ?? 'Pilothouse needs you', {
    body: news.body ?? 'A session waits for your answer.',
    tag: news.tag ?? news.sessionId ?? 'pilothouse',
    // What replaces an older one of the same session is news all the same.
    renotify: true,
    icon: 'icons/icon-192.png',
    badge: 'icons/icon-192.png',
    data: { sessionId: news.sessionId },
  }));
});

worker.addEventListener('pushsubscriptionchange', (/** @type {any} */ event) => event.waitUntil(subscribeAgain(event.newSubscription)));

/** The browser's address has changed, or is gone: the bridge has to know the new one. @param {PushSubscription | null | undefined} fresh */
async function subscribeAgain(fresh) {
  const kept = await (await caches.open('pilothouse-device')).match(new URL('device', base));
  if (kept === undefined) return;
  const { secret, path } = await kept.json();
  const url = (/** @type {string} */ name) => new URL(`${path}push/${name}`, base);
  const { key } = await (await fetch(url('key'), { headers: { 'pilothouse-page': secret } })).json();
  const subscription = fresh ?? (await worker.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
  await fetch(url('subscribe'), {
    method: 'POST', headers: { 'content-type': 'application/json', 'pilothouse-page': secret }, body: JSON.stringify(subscription),
  });
}

worker.addEventListener('notificationclick', (/** @type {any} */ event) => {
  event.notification.close();
  const { sessionId } = event.notification.data ?? {};
  event.waitUntil(show(sessionId === undefined ? '#/' : `#/s/${encodeURIComponent(sessionId)}`));
});

/** Brings a page to the front, one that is there or a new one. @param {string} hash */
async function show(hash) {
  const url = new URL(hash, base);
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = pages.find((/** @type {any} */ client) => client.url.startsWith(base.href));
  if (page === undefined) return worker.clients.openWindow(url.href);
  await page.focus();
  return page.navigate(url.href);
}
