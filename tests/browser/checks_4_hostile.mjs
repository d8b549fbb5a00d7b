/** What must not happen: scripts from the model, broken addresses, people left out; and calls that must come through. */
import assert from 'node:assert/strict';
import { AXE, said, say, until } from './world.mjs';

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
  const scope = await page.evaluate(async () => (await navigator.serviceWorker.ready).scope);
  assert.equal(scope, `${world.gate.url}/`);
  assert.deepEqual(failed, []);
}

export async function accessible(world) {
  await world.serve();
  for (const how of [{ dark: false }, { dark: true, phone: true }]) {
    const page = await world.page(how);
    const inspect = async (what) => {
      // What moves in is looked at when it is there.
      await page.evaluate(() => Promise.all(document.getAnimations().filter((animation) => animation.effect?.getTiming().iterations !== Infinity).map((animation) => animation.finished.catch(() => {}))));
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      const shown = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`);
      assert.deepEqual(shown, [], `${what}, ${JSON.stringify(how)}`);
    };
    await inspect('the empty list');
    await page.getByRole('button', { name: 'New session' }).first().click();
    await inspect('a new session');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await world.start(page, 'markdown');
    await page.locator('.row.turn').waitFor();
    await inspect('the chat');
    await say(page, 'write the chart');
    await card(page).waitFor();
    await inspect('a diff');
    await card(page).getByRole('button', { name: 'Deny…' }).click();
    await inspect('a refusal');
    await card(page).getByRole('button', { name: 'Deny', exact: true }).click();
    await page.locator('.row.turn').nth(1).waitFor();
    for (const words of ['run touch x.txt', 'two questions', 'make a plan']) {
      if (words === 'make a plan') {
        await page.getByRole('button', { name: /^Mode:/ }).click();
        await page.getByRole('dialog', { name: 'Mode' }).getByRole('button', { name: /^Plan/ }).click();
        await page.getByRole('button', { name: 'Mode: Plan. Change' }).waitFor();
      }
      await say(page, words);
      await card(page).waitFor();
      await inspect(words);
      await card(page).getByRole('button', { name: /^(Allow once|Skip|Accept plan)$/ }).click();
      await until('it is decided', async () => (await card(page).count()) === 0);
      await until('the turn is over', async () => page.locator('.composer .send').isVisible());
    }
    await page.evaluate(() => { location.hash = '#/settings'; });
    await page.locator('.device').first().waitFor();
    await inspect('settings');
    await page.evaluate(() => { location.hash = '#/'; });
    await page.locator('.card').first().waitFor();
    await inspect('the list');
  }
}

export async function by_keyboard_alone(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'run touch typed.txt');
  await card(page).waitFor();
  // From the field that has the focus, backwards to the nearest button of the card.
  const reached = async (name) => {
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press('Shift+Tab');
      if ((await page.evaluate(() => document.activeElement?.textContent)) === name) return;
    }
    throw new Error(`${name} cannot be reached`);
  };
  await page.getByRole('combobox', { name: 'Message' }).focus();
  await reached('Allow once');
  await page.keyboard.press('Enter');
  await until('the command ran', () => world.has('typed.txt'));
  await page.getByRole('button', { name: 'Session menu' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Session' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Session' }).waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Session menu');
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
}
