// Web Push: the bridge calls this browser when a session needs its user.

/** @import { App } from './main.js' */

/** The worker that notifies; nothing where browsers have none, as on pages without TLS. @param {App} app */
export async function registerWorker(app) {
  if (!('serviceWorker' in navigator)) return null;
  try {
    return (await navigator.serviceWorker.register(new URL('sw.js', app.link.base), { scope: app.link.base.pathname })) ?? null;
  } catch {
    return null;
  }
}

/**
 * @param {App} app
 * @returns {Promise<'unsupported' | 'denied' | 'on' | 'off'>}
 */
export async function isSubscribed(app) {
  if (!('PushManager' in window) || !('Notification' in window)) return 'unsupported';
  const worker = await app.worker;
  if (worker === null) return 'unsupported';
  if (Notification.permission === 'denied') return 'denied';
  return (await worker.pushManager.getSubscription()) === null ? 'off' : 'on';
}

/** @param {App} app */
export async function subscribe(app) {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error('Allow notifications in the browser, then try again.');
  const worker = await app.worker;
  if (worker === null) throw new Error('This browser cannot show notifications.');
  const { key } = await app.bridge.http('push/key');
  const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  await app.bridge.http('push/subscribe', subscription.toJSON());
}

/**
 * Tells the bridge again whom to call. It may have forgotten this browser, as when its device was revoked, or have another key
 * by now; the browser knows of neither.
 *
 * @param {App} app
 */
export async function renewSubscription(app) {
  if ((await isSubscribed(app)) !== 'on' || Notification.permission !== 'granted') return;
  const subscription = await (await app.worker)?.pushManager.getSubscription();
  if (subscription === null || subscription === undefined) return;
  const { key } = await app.bridge.http('push/key');
  if (keyOf(subscription) === key) {
    try {
      await app.bridge.http('push/subscribe', subscription.toJSON());
      return;
    } catch (error) {
      // Whoever has this address by now keeps it: the browser gets another one.
      if (!String(error).includes('another device')) throw error;
    }
  }
  await unsubscribe(app);
  await subscribe(app);
}

/**
 * Takes away what was told of a session that is shown now.
 *
 * @param {App} app
 * @param {string} sessionId
 */
export async function closeNotifications(app, sessionId) {
  const told = await (await app.worker)?.getNotifications({ tag: sessionId });
  for (const notification of told ?? []) notification.close();
}

/** The key that a browser has subscribed to, as the bridge writes it. @param {PushSubscription} subscription */
function keyOf({ options }) {
  const bytes = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0));
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** @param {App} app */
export async function unsubscribe(app) {
  const subscription = await (await app.worker)?.pushManager.getSubscription();
  if (subscription === null || subscription === undefined) return;
  await app.bridge.http('push/unsubscribe', { endpoint: subscription.endpoint });
  await subscription.unsubscribe();
}
