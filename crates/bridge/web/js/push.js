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
  if ((await Notification.requestPermission()) !== 'granted') throw new Error('The browser was not allowed to notify.');
  const worker = await app.worker;
  if (worker === null) throw new Error('This browser cannot notify.');
  const { key } = await app.bridge.http('push/key');
  const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  await app.bridge.http('push/subscribe', subscription.toJSON());
}

/** @param {App} app */
export async function unsubscribe(app) {
  const subscription = await (await app.worker)?.pushManager.getSubscription();
  if (subscription === null || subscription === undefined) return;
  await app.bridge.http('push/unsubscribe', { endpoint: subscription.endpoint });
  await subscription.unsubscribe();
}
