/** What must not happen: scripts from the model, broken addresses; and calls that must come through. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { said, say, until } from './world.mjs';

const card = (page) => page.getByRole('region', { name: /^Approval:/ });

export async function hostile_text(world) {
  await world.serve();
  const page = await world.page({ name: '<img src=x onerror=window.pwned=1>' });
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  const session = await world.start(page, 'be hostile <script>window.pwned = "user"</script>');
  await card(page).waitFor();
  await page.locator('.row.said').first().waitFor();
  const judge = async (place) => {
    const found = await page.evaluate(() => ({
      pwned: window.pwned ?? null,
      bad: [...document.querySelectorAll('#app script, #app iframe, #app style, #app form[action], #app [onerror], #app [onload], #app img[src="x"]')].map((element) => element.outerHTML),
      links: [...document.querySelectorAll('#app .prose a')].map((link) => link.getAttribute('href')).filter((href) => href !== null && !/^(https?|mailto):/.test(href)),
    }));
    assert.deepEqual(found, { pwned: null, bad: [], links: [] }, place);
  };
  await judge('the approval');
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).display) !== 'none', true);
  await card(page).getByRole('button', { name: 'Allow once' }).click();
  await page.locator('.row.turn').waitFor();
  // Everything that opens is opened, and what is in it, too.
  await until('all is open', () => page.evaluate(() => {
    const shut = [...document.querySelectorAll('.chat-log details')].filter((details) => !details.open || details.lastElementChild.childElementCount === 0);
    for (const details of shut) details.open = true;
    return shut.length === 0;
  }));
  await judge('the chat');
  await page.getByText('<img src=x onerror=window.pwned=').first().waitFor();
  await page.evaluate(() => { location.hash = '#/'; });
  await page.locator(`.card[data-session="${session}"]`).waitFor();
  await judge('the list');
  await page.evaluate(() => { location.hash = '#/settings'; });
  await page.locator('.device').first().waitFor();
  await judge('settings');
  const outside = asked.filter((url) => !url.startsWith(world.info.url) && !url.startsWith('data:'));
  assert.deepEqual(outside, []);
}

export async function under_a_sub_path(world) {
  await world.serve({ path: '/pilot/house' });
  const page = await world.page();
  assert.ok(page.url().startsWith(`${world.gate.url}/`), page.url());
  await world.start(page, 'hello');
  await said(page, 'You said: hello');
  const failed = [];
  page.on('response', (response) => { if (response.status() >= 400) failed.push(response.url()); });
  await page.reload();
  await said(page, 'You said: hello');
  await page.evaluate(() => { location.hash = '#/settings'; });
  await page.locator('.device').first().waitFor();
  // What is too long for the log's way here is fetched from there, too.
  writeFileSync(`${world.project}/log.txt`, Array.from({ length: 1800 }, (_, line) => `${line}: all is quiet on the harbour wall\n`).join(''));
  await page.goBack();
  await say(page, 'read the log');
  await page.locator('.call.done > summary').click();
  await page.getByRole('button', { name: /^Show all \d+ KB$/ }).click();
  await page.locator('.call-output.whole').getByText('1799: all is quiet').waitFor();
  const scope = await page.evaluate(async () => (await navigator.serviceWorker.ready).scope);
  assert.equal(scope, `${world.gate.url}/`);
  assert.deepEqual(failed, []);
}

export async function behind_a_proxy_that_takes_the_path_away(world) {
  await world.serve({ path: '/pilot', strips: true });
  const page = await world.page();
  await world.start(page, 'hello');
  await said(page, 'You said: hello');
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await page.reload();
  await said(page, 'You said: hello');
  assert.ok(page.url().startsWith(`${world.gate.url}/`), page.url());
}

export async function a_push_reaches_the_worker(world) {
  await world.serve();
  const page = await world.page({ permissions: ['notifications'] });
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  const client = await page.context().newCDPSession(page);
  const registration = new Promise((resolve) => {
    client.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [found] = registrations;
      if (found !== undefined) resolve(found);
    });
  });
  await client.send('ServiceWorker.enable');
  const { registrationId } = await registration;
  const data = JSON.stringify({ title: 'Harbour needs you', body: 'Bash: touch x.txt', sessionId: 'abc' });
  await client.send('ServiceWorker.deliverPushMessage', { origin: new URL(world.info.url).origin, registrationId, data });
  const shown = await until('the notification is there', () => page.evaluate(async () => {
    const worker = await navigator.serviceWorker.ready;
    const [first] = await worker.getNotifications();
    return first === undefined ? null : { title: first.title, body: first.body, data: first.data };
  }));
  assert.deepEqual(shown, { title: 'Harbour needs you', body: 'Bash: touch x.txt', data: { sessionId: 'abc' } });
  // Whoever looks at the session has seen it.
  await page.evaluate(() => { location.hash = '#/s/abc'; });
  await until('it is gone', () => page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).length === 0));
}

export async function nobody_is_called_who_looks(world) {
  await world.serve();
  const page = await world.page();
  const told = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => {
    const message = JSON.parse(payload);
    if (message.type === 'visible') told.push(message.visible);
  }));
  await page.reload();
  await page.locator('.list-head .sync.live').waitFor({ state: 'attached' });
  await until('the bridge is told', () => told.at(-1) === true);
  const become = (state) => page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
  await become('hidden');
  await until('it is told that nobody looks', () => told.at(-1) === false);
  await become('visible');
  await until('and that somebody does', () => told.at(-1) === true);
}
