/** What is shown is so: what broke, what waits no longer, and whether somebody is called. */
import assert from 'node:assert/strict';
import { rested, said, say, until } from './world.mjs';

const card = (page) => page.getByRole('region', { name: /^Approval:/ });

/** Lets a check speak for the bridge, and keep what the page says from it. */
async function overheard(page) {
  const wire = { tell: null, answers: () => null };
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const bridge = socket.connectToServer();
    wire.tell = (message) => socket.send(JSON.stringify(message));
    socket.onMessage((text) => {
      const message = JSON.parse(text);
      const answer = wire.answers(message);
      if (answer === null) bridge.send(text);
      else wire.tell({ ...answer, requestId: message.requestId });
    });
  });
  await page.reload();
  await page.locator('.list-head .sync.live').waitFor({ state: 'attached' });
  return wire;
}

export async function a_log_that_fails_ends_the_session_for_all_to_see(world) {
  await world.serve();
  const page = await world.page();
  const wire = await overheard(page);
  const sessionId = await world.start(page, 'run touch lost.txt');
  await card(page).waitFor();
  wire.tell({ type: 'error', errorCode: 'storage', message: 'the disk is full; the session is ended', sessionId });
  wire.tell({ type: 'status', status: 'idle', sessionId });
  await card(page).waitFor({ state: 'detached' });
  await page.locator('.gone').getByText('the disk is full').waitFor();
  await page.locator('.gone').getByRole('button', { name: 'Resume' }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Message', exact: true }).isVisible(), false);
}

export async function what_waits_no_longer_is_not_shown(world) {
  await world.serve();
  const page = await world.page({ name: 'Laptop' });
  const wire = await overheard(page);
  const sessionId = await world.start(page, 'run touch gone.txt');
  const gone = ({ type, id }) => (type === 'approve' ? { type: 'approval_reply', sessionId, id, status: 'gone', why: 'no such approval is open' } : null);
  // From the chat: the card goes. In the list, which is not told of it, the buttons can be pressed again.
  wire.answers = gone;
  await card(page).getByRole('button', { name: 'Allow once' }).click();
  await card(page).waitFor({ state: 'detached' });
  const listed = page.locator(`.card[data-session="${sessionId}"]`).getByRole('button', { name: 'Allow' });
  await listed.click();
  await until('it was answered', async () => (await page.locator('.toast').getByText('Nothing to decide any more').count()) > 0);
  await until('it can be pressed', () => listed.isEnabled());
  wire.answers = () => null;
  await listed.click();
  await until('the command ran', () => world.has('gone.txt'));
  await rested(page);
  // A log that does not reach back: what was open before is open only if the bridge says so.
  await say(page, 'run touch gap.txt');
  await card(page).waitFor();
  wire.tell({ type: 'subscribed', sessionId, continuity: 'gap', since: 99, session: { status: 'idle', state: 'running', approvals: [] } });
  await card(page).waitFor({ state: 'detached' });
}

export async function put_aside_it_still_asks(world) {
  await world.serve();
  const page = await world.page();
  const session = await world.start(page, 'run touch aside.txt');
  await card(page).waitFor();
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('button', { name: /^Archive/ }).click();
  const listed = page.locator(`.card[data-session="${session}"]`);
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
  assert.match(await page.title(), /^\(1\)/);
  await listed.getByRole('button', { name: 'Allow' }).click();
  await until('the command ran', () => world.has('aside.txt'));
  await listed.waitFor({ state: 'detached' });
}

export async function the_bridge_is_told_again_whom_to_call(world) {
  await world.serve({ gate: true });
  const page = await world.page({ permissions: ['notifications'] });
  /** What the page tells the bridge, oldest first. */
  const told = [];
  page.on('request', (request) => {
    const what = /\/push\/(subscribe|unsubscribe)$/.exec(request.url())?.[1];
    if (what !== undefined) told.push(`${what} ${JSON.parse(request.postData()).endpoint}`);
  });
  // No browser of a check can be called; this one believes that it can.
  await page.addInitScript(() => {
    const subscription = (name, applicationServerKey) => ({
      endpoint: `https://push.example.com/${name}`, options: { applicationServerKey }, unsubscribe: () => Promise.resolve(true),
      toJSON: () => ({ endpoint: `https://push.example.com/${name}`, keys: {} }),
    });
    const bytes = (key) => Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
    PushManager.prototype.getSubscription = async () => {
      const base = new URL('.', location.href);
      const { fetchAs } = await import(new URL('js/wire/credential.js', base).href);
      const { key } = await (await fetchAs(base, 'push/key')).json();
      return subscription('known', sessionStorage.getItem('other key') === null ? bytes(key).buffer : new Uint8Array(65).buffer);
    };
    PushManager.prototype.subscribe = async () => subscription('fresh', null);
  });
  await page.reload();
  await until('it is told with the connection', () => told.join() === 'subscribe https://push.example.com/known');
  world.gate.shut();
  await page.locator('.list-head .sync.away').waitFor();
  world.gate.unshut();
  await until('and with the next one', () => told.length === 2 && told[1] === told[0]);
  // A bridge with another key cannot call the old address.
  await page.evaluate(() => sessionStorage.setItem('other key', 'yes'));
  told.length = 0;
  await page.reload();
  await until('there is a new address', () => told.length === 2);
  assert.deepEqual(told, ['unsubscribe https://push.example.com/known', 'subscribe https://push.example.com/fresh']);
}

export async function the_bridge_says_how_long_a_message_may_be(world) {
  await world.serve({ further: ['--limit', 'message_bytes=20000'] });
  const page = await world.page();
  await world.start(page, 'hello');
  await rested(page);
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.fill('letters '.repeat(3000));
  await Promise.all([
    page.locator('.toast').getByText('Too large for one message').waitFor(),
    page.getByRole('button', { name: 'Send' }).click(),
  ]);
  assert.equal(await page.locator('.list-head .sync.live').count(), 1);
  await field.fill('letters enough');
  await page.getByRole('button', { name: 'Send' }).click();
  await said(page, 'You said: letters enough');
}
