// The worker: keeps the page's files for a bad network, and calls the user when a session needs one.

const SHELL = 'pilothouse-shell';
/** What the page consists of; everything else is the bridge's own business and never kept. */
const KEPT = /^(|index\.html|manifest\.webmanifest|(js|css|icons)\/[\w./-]+)$/;

/** @type {any} */
const worker = self;
const base = new URL('.', worker.location.href);

worker.addEventListener('install', () => worker.skipWaiting());
worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('fetch', (/** @type {any} */ event) => {
  const url = new URL(event.request.url);
  const isOurs = url.origin === base.origin && url.pathname.startsWith(base.pathname);
  if (event.request.method !== 'GET' || !isOurs || !KEPT.test(url.pathname.slice(base.pathname.length))) return;
  event.respondWith(fresh(event));
});

/** The file from the bridge, or the last one that it gave. @param {any} event */
async function fresh(event) {
  try {
    const answer = await fetch(event.request);
    // The page does not wait until its copy is kept.
    if (answer.ok) event.waitUntil(keep(event.request, answer.clone()));
    return answer;
  } catch (error) {
    const kept = await (await caches.open(SHELL)).match(event.request, { ignoreSearch: true });
    if (kept === undefined) throw error;
    return kept;
  }
}

/**
 * @param {Request} request
 * @param {Response} answer
 */
async function keep(request, answer) {
  await (await caches.open(SHELL)).put(request, answer);
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
    icon: 'icons/icon-192.png',
    badge: 'icons/icon-192.png',
    data: { sessionId: news.sessionId },
  }));
});

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
