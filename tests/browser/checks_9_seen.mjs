/** Nothing is decided that was not seen: not by a second tap, not below an edge, not without a connection. */
import assert from 'node:assert/strict';
import { armed, readOn, rested, said, say, until } from './world.mjs';

const card = (page) => page.getByRole('region', { name: /^Approval:/ });
const allow = (page) => card(page).getByRole('button', { name: 'Allow once' });
const pause = (time) => new Promise((resolve) => { setTimeout(resolve, Math.max(0, time)); });

/** For so long a request must have been shown before it is decided about. */
const SHOWN = 600;
/** A page knows when a frame is drawn to within some frames. */
const FRAMES = 50;
/** The times between the two taps of a double tap. */
const DELAYS = Array.from({ length: 11 }, (_, index) => 50 * (index + 1));

/**
 * Has the page keep book, independently of its own scripts: for how long each request that is decided about was shown with its
 * button in one place.
 */
async function keepBook(page) {
  await page.addInitScript(() => {
    window.decided = [];
    const since = new Map();
    const look = () => {
      const there = new Set();
      for (const asked of document.querySelectorAll('[data-approval]')) {
        const button = asked.querySelector('.button.allow');
        if (button === null || !button.checkVisibility()) continue;
        const { left, top } = button.getBoundingClientRect();
        const key = `${asked.className.split(' ')[0]} ${asked.dataset.approval}`;
        there.add(key);
        const known = since.get(key);
        if (known === undefined || Math.abs(known.left - left) > 4 || Math.abs(known.top - top) > 4) since.set(key, { left, top, at: performance.now() });
      }
      for (const key of since.keys()) if (!there.has(key)) since.delete(key);
      requestAnimationFrame(look);
    };
    look();
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (text) {
      const message = JSON.parse(text);
      if (/^(approve|approve_always|reject|answer)$/.test(message.type)) {
        const id = message.id ?? message.toolUseId;
        const shown = ['approval', 'asked'].map((kind) => performance.now() - (since.get(`${kind} ${id}`)?.at ?? Infinity));
        window.decided.push({ type: message.type, id, digest: message.digest, shown: Math.round(Math.max(...shown)) });
      }
      return send.call(this, text);
    };
  });
  await page.reload();
  await page.locator('.list-head .sync.live').waitFor({ state: 'attached' });
}

const decided = (page) => page.evaluate(() => window.decided);

/** Taps twice at one place, so many milliseconds apart. */
async function tapTwice(page, button, delay, phone) {
  const { x, y, width, height } = await button.boundingBox();
  const tap = () => (phone ? page.touchscreen.tap(x + width / 2, y + height / 2) : page.mouse.click(x + width / 2, y + height / 2));
  const start = Date.now();
  const first = tap();
  await pause(delay - (Date.now() - start));
  await Promise.all([first, tap()]);
}

async function doubleTaps(world, place) {
  await world.serve();
  const starter = await world.page({ name: 'Starter' });
  for (const phone of [true, false]) {
    const page = await world.page({ phone, name: phone ? 'Phone' : 'Desk' });
    await keepBook(page);
    const sessions = [];
    for (const ship of ['cutter', 'ketch']) sessions.push(await world.start(starter, `fleet of ${ship}${phone ? 'p' : 'd'}`));
    if (place === 'chat') await world.join(page, sessions[0]);
    else await until('both ask', async () => (await page.locator('.asked .button.allow').count()) === 2);
    const button = place === 'chat' ? allow(page) : page.locator('.asked .button.allow').first();
    const missed = [];
    for (const [index, delay] of DELAYS.entries()) {
      await armed(button);
      const before = await decided(page);
      assert.equal(before.length, index, `${delay} ms: ${JSON.stringify(before)}`);
      await tapTwice(page, button, delay, phone);
      await until('the first tap decides', async () => (await decided(page)).length > index);
      // Long enough for what the second tap may have set off.
      await pause(300);
      if ((await decided(page)).length !== index + 1) missed.push(delay);
      if (missed.length > 0) break;
    }
    const all = await decided(page);
    assert.deepEqual(missed, [], `the second tap decided: ${JSON.stringify(all)}`);
    assert.ok(all.every(({ shown, digest }) => shown >= SHOWN - FRAMES && /^[0-9a-f]{64}$/.test(digest)), JSON.stringify(all));
    console.log(`       ${place}, ${phone ? 'phone' : 'desktop'}: ${all.length} double taps, the shortest look ${Math.min(...all.map(({ shown }) => shown))} ms`);
    for (const session of sessions) {
      await world.join(starter, session);
      await starter.getByRole('button', { name: 'Session menu' }).click();
      await starter.getByRole('button', { name: /^End session/ }).click();
      await starter.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
      await starter.getByText('This session has ended.').waitFor();
    }
  }
}

export const double_taps_in_the_chat_decide_once = (world) => doubleTaps(world, 'chat');
export const double_taps_in_the_list_decide_once = (world) => doubleTaps(world, 'list');

export async function a_request_that_moves_under_the_finger_is_not_armed(world) {
  await world.serve();
  const starter = await world.page({ name: 'Starter' });
  const page = await world.page({ phone: true, name: 'Phone' });
  await keepBook(page);
  await world.start(starter, 'run touch below.txt');
  const first = page.locator('.asked .button.allow').first();
  await armed(first);
  const { x, y, width, height } = await first.boundingBox();
  const tap = () => page.touchscreen.tap(x + width / 2, y + height / 2);
  // Another session asks, and comes above: the tap that was on its way to the one below meets the new one, or nothing.
  await world.start(starter, 'run touch above.txt');
  await page.locator('.asked').getByText('touch above.txt').waitFor();
  await tap();
  await page.locator('.button[data-said="Too soon"]').waitFor();
  await pause(500);
  assert.deepEqual(await decided(page), []);
  assert.equal(world.has('above.txt') || world.has('below.txt'), false);
  // The same tap later is meant.
  await armed(first);
  await tap();
  await until('it ran', () => world.has('above.txt'));
  assert.equal(world.has('below.txt'), false);
}

export async function the_list_keeps_its_order_under_a_pointer(world) {
  await world.serve();
  const page = await world.page();
  const first = await world.start(page, 'run touch first.txt');
  const second = await world.start(page, 'run touch second.txt');
  const order = () => page.locator('.sessions > .card').evaluateAll((all) => all.map((element) => element.dataset.session));
  await until('both are there', async () => (await order()).join() === [second, first].join());
  const asked = (id) => page.locator(`.card[data-session="${id}"]`);
  const places = () => page.locator('.sessions > *').evaluateAll((all) => all.map((element) => Math.round(element.getBoundingClientRect().top)));
  // After a tap nothing moves for a second, though what was decided is done at once.
  await armed(asked(second).locator('.button.allow'));
  const before = await places();
  await asked(second).locator('.button.allow').click();
  const tapped = Date.now();
  await until('it ran', () => world.has('second.txt'));
  while (Date.now() - tapped < 800) assert.deepEqual(await places(), before);
  // Under a mouse each stays in its place, and says what is so.
  await asked(second).locator('.light.ready').waitFor();
  assert.deepEqual(await order(), [second, first]);
  await page.mouse.move(900, 300);
  await until('the one that waits comes first', async () => (await order()).join() === [first, second].join());
}

export async function keys_and_screen_readers_wait_too(world) {
  await world.serve();
  const page = await world.page();
  await keepBook(page);
  await world.start(page, 'fleet of barges');
  await card(page).getByText('touch barges-1.txt').first().waitFor();
  // Pressed in the moment in which it is there: by whoever reads the page aloud, and by a key.
  await page.evaluate(() => new Promise((resolve) => {
    const look = () => {
      const button = document.querySelector('.approval .button.allow');
      if (button === null) return void requestAnimationFrame(look);
      button.click();
      resolve();
    };
    look();
  }));
  await allow(page).focus();
  assert.deepEqual(await decided(page), []);
  await armed(allow(page));
  await page.keyboard.down('Enter');
  await card(page).getByText('touch barges-2.txt').first().waitFor();
  await allow(page).focus();
  await page.keyboard.down('Enter');
  await armed(allow(page));
  // The key is still down: it presses again and again, and nothing of that is meant.
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await pause(300);
  assert.equal((await decided(page)).length, 1);
  // A space that went down too early is not meant when it comes up.
  await card(page).getByRole('button', { name: 'Always…' }).click();
  await card(page).getByRole('button', { name: 'Back' }).click();
  await allow(page).focus();
  await page.keyboard.down(' ');
  await armed(allow(page));
  await page.keyboard.up(' ');
  await pause(300);
  assert.equal((await decided(page)).length, 1);
  // The early press has started the wait again.
  await armed(allow(page));
  await page.keyboard.press(' ');
  await until('now it is', async () => (await decided(page)).length === 2);
  assert.ok((await decided(page)).every(({ shown }) => shown >= SHOWN - FRAMES));
}

export async function forms_and_returns_are_armed_anew(world) {
  await world.serve({ gate: true });
  const page = await world.page();
  await keepBook(page);
  const session = await world.start(page, 'fleet of tugs');
  const click = (name) => card(page).getByRole('button', { name, exact: true }).evaluate((button) => button.click());
  const nothing = async (what) => {
    await pause(150);
    assert.deepEqual(await decided(page), [], what);
  };
  await armed(allow(page));
  // The second tap on "Always…" and "Deny…" meets another button.
  await card(page).getByRole('button', { name: 'Always…' }).click();
  await click('Allow and remember');
  await nothing('always');
  await card(page).getByRole('button', { name: 'Back' }).click();
  await armed(allow(page));
  await card(page).getByRole('button', { name: 'Deny…' }).click();
  await click('Deny');
  await page.keyboard.press('Control+Enter');
  await nothing('deny');
  await card(page).getByRole('button', { name: 'Back' }).click();
  // Somebody comes back to the page, to the session, to the network, from a dialog that covered it.
  await armed(allow(page));
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
    Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
    document.querySelector('.approval .button.allow').click();
  });
  await nothing('another tab');
  await armed(allow(page));
  await page.getByRole('button', { name: 'Session menu' }).click();
  await pause(200);
  await page.getByRole('button', { name: 'Close' }).click();
  await click('Allow once');
  await nothing('a dialog');
  await armed(allow(page));
  await page.evaluate(() => { location.hash = '#/'; });
  await world.join(page, session);
  await allow(page).waitFor();
  await click('Allow once');
  await nothing('another view');
  await armed(allow(page));
  world.gate.shut();
  await page.locator('.list-head .sync.away').waitFor();
  world.gate.unshut();
  await page.locator('.list-head .sync.live').waitFor();
  await click('Allow once');
  await nothing('another connection');
  await page.reload();
  await allow(page).waitFor();
  await click('Allow once');
  await nothing('a reload');
  await allow(page).click();
  await until('it ran', () => world.has('tugs-1.txt'));
}

export async function the_end_of_a_command_is_seen_before_it_is_allowed(world) {
  await world.serve();
  const end = '| touch hidden.txt';
  const long = `run echo start\n${Array.from({ length: 70 }, (_, line) => `echo ${line}`).join('\n')}\necho end ${end}`;
  for (const phone of [false, true]) {
    const page = await world.page({ phone });
    await keepBook(page);
    await world.start(page, long);
    await card(page).waitFor();
    const cue = card(page).locator('.approval-more-button');
    await cue.getByText(/^\d+ more lines below$/).waitFor();
    const isInView = () => card(page).locator('.approval-body').evaluate((body) => body.scrollTop + body.clientHeight >= body.scrollHeight - 4);
    assert.equal(await isInView(), false);
    await pause(1000);
    for (const name of ['Allow once', 'This session']) {
      assert.equal(await card(page).getByRole('button', { name }).isEnabled(), false, name);
      await card(page).getByRole('button', { name }).evaluate((button) => button.click());
    }
    await card(page).locator('.button[data-said="Read to the end"]').first().waitFor();
    assert.deepEqual(await decided(page), []);
    // A refusal needs nothing to be read.
    await card(page).getByRole('button', { name: 'Deny…' }).click();
    await armed(card(page).getByRole('button', { name: 'Deny', exact: true }));
    await card(page).getByRole('button', { name: 'Back' }).click();
    await cue.click();
    await until('a piece of it was shown', () => card(page).locator('.approval-body').evaluate((body) => body.scrollTop > 0));
    assert.equal(await isInView(), false);
    await card(page).locator('.approval-body').evaluate((body) => { body.scrollTop = body.scrollHeight; });
    await cue.waitFor({ state: 'hidden' });
    await allow(page).click();
    await rested(page);
    assert.equal(world.has('hidden.txt'), true);
  }
}

export async function changes_plans_and_further_input_are_all_in_view(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'write a wide line');
  await card(page).getByText('the far end').waitFor();
  const wide = () => card(page).evaluate((card) => [...card.querySelectorAll(':not(.unseen)')].filter((element) => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline').map((element) => element.className));
  assert.deepEqual(await wide(), [], 'nothing scrolls sideways');
  // A list shows no change, so it offers no yes to one.
  const listed = page.locator('.card .asked');
  await listed.getByRole('button', { name: 'Details' }).waitFor();
  assert.equal(await listed.locator('.button.allow').count(), 0);
  await allow(page).click();
  await rested(page);
  // Lines that are left out are shown first.
  await say(page, 'write the chart');
  await card(page).getByRole('button', { name: '5 more lines' }).waitFor();
  await pause(1000);
  assert.equal(await allow(page).isEnabled(), false);
  await readOn(card(page));
  await allow(page).click();
  await until('the change is asked about', async () => (await card(page).locator('.diff-line.removed').count()) === 2);
  await allow(page).click();
  await rested(page);
  // What goes to a tool besides its command.
  await say(page, 'in the background');
  await card(page).getByText('dangerouslyDisableSandbox: true').waitFor();
  await until('the list says so', async () => /dangerouslyDisableSandbox: true/.test(await listed.locator('.asked-target').textContent()));
  await allow(page).click();
  await rested(page);
  await page.getByRole('button', { name: /^Mode:/ }).click();
  await page.getByRole('dialog', { name: 'Mode' }).getByRole('button', { name: /^Plan/ }).click();
  await page.getByRole('button', { name: 'Mode: Plan. Change' }).waitFor();
  await say(page, 'make a long plan');
  const accept = card(page).getByRole('button', { name: 'Accept plan' });
  await accept.waitFor();
  await pause(1000);
  assert.equal(await accept.isEnabled(), false);
  await readOn(card(page));
  await accept.click();
  await until('the plan was accepted', async () => /Allowed plan/.test(await page.locator('.row.resolved').last().textContent()));
}

export async function hidden_characters_are_shown(world) {
  await world.serve();
  const page = await world.page();
  const bad = '\u202Etxt.exe\u2066\u200B\u00A0\u{E0041}\u0007';
  await world.start(page, `run touch ${bad} 👩‍🚀❤️`);
  const numbers = ['U+202E', 'U+2066', 'U+200B', 'U+00A0', 'U+E0041', 'U+0007'];
  const listed = page.locator('.card .asked-target');
  for (const place of [card(page).locator('.preview code'), listed]) {
    await place.waitFor();
    assert.deepEqual(await place.locator('.hidden-character').allTextContents(), numbers);
    const text = await place.textContent();
    assert.equal(/[\u202E\u2066\u200B\u00A0\u0007]/.test(text), false, JSON.stringify(text));
    assert.ok(text.includes('👩‍🚀❤️'), 'an emoji stays whole');
  }
  // A carriage return is no line of its own.
  await card(page).getByRole('button', { name: 'Deny…' }).click();
  await card(page).getByRole('button', { name: 'Deny', exact: true }).click();
  await rested(page);
  await say(page, 'carriage return');
  await card(page).locator('.preview .hidden-character').getByText('U+000D').waitFor();
}

export async function nothing_is_decided_without_a_connection(world) {
  await world.serve({ gate: true });
  const page = await world.page();
  await keepBook(page);
  const session = await world.start(page, 'run touch away.txt');
  const listed = page.locator(`.card[data-session="${session}"]`);
  await armed(allow(page));
  world.gate.shut();
  // At once, and in both places; the banner comes later and says the same.
  await card(page).getByText('No connection. Decisions are not sent.').waitFor();
  await listed.getByText('No connection. Decisions are not sent.').waitFor();
  for (const button of [allow(page), listed.locator('.button.allow')]) {
    assert.equal(await button.isEnabled(), false);
    await button.evaluate((element) => element.click());
  }
  await page.locator('.button[data-said="No connection"]').first().waitFor();
  await page.locator('.banner').getByText('Messages wait here; decisions are not sent.').waitFor();
  await say(page, 'hello from away');
  world.gate.unshut();
  await page.locator('.list-head .sync.live').waitFor();
  // The message was kept; the decisions were not, and nothing says that they were.
  await page.getByRole('list', { name: 'Waiting messages' }).getByText('hello from away').waitFor();
  await pause(500);
  assert.deepEqual(await decided(page), []);
  assert.equal(world.has('away.txt'), false);
  assert.equal(await card(page).locator('.connection-note').filter({ visible: true }).count(), 0);
  await allow(page).click();
  await until('it ran', () => world.has('away.txt'));
  await said(page, 'hello from away');
}

export async function a_decision_that_was_lost_on_its_way_is_said_to_be(world) {
  await world.serve();
  const page = await world.page();
  let loses = false;
  let altered = false;
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const bridge = socket.connectToServer();
    socket.onMessage((text) => {
      const message = JSON.parse(text);
      if (message.type !== 'approve' || !(loses || altered)) return void bridge.send(text);
      if (altered) bridge.send(JSON.stringify({ ...message, digest: '0'.repeat(64) }));
      else {
        bridge.close();
        socket.close();
      }
      loses = false;
      altered = false;
    });
  });
  await page.reload();
  await page.locator('.list-head .sync.live').waitFor({ state: 'attached' });
  await world.start(page, 'run touch lost.txt');
  loses = true;
  await allow(page).click();
  await card(page).getByText('The connection broke. Still open: decide again.').waitFor();
  assert.equal(world.has('lost.txt'), false);
  // A request that is not the one that was shown is refused, and can be decided about again.
  altered = true;
  await Promise.all([page.locator('.toast').getByText('is not the one that was shown').waitFor(), allow(page).click()]);
  await pause(300);
  assert.equal(world.has('lost.txt'), false);
  await allow(page).click();
  await until('it ran', () => world.has('lost.txt'));
}

export async function a_decision_that_the_network_held_back_is_refused(world) {
  await world.serve();
  const page = await world.page();
  /** @type {null | (() => void)} */
  let deliver = null;
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const bridge = socket.connectToServer();
    socket.onMessage((text) => {
      if (JSON.parse(text).type === 'approve' && deliver === null) deliver = () => bridge.send(text);
      else bridge.send(text);
    });
  });
  await page.reload();
  await page.locator('.list-head .sync.live').waitFor({ state: 'attached' });
  await world.start(page, 'run touch late.txt');
  await allow(page).click();
  await until('the decision is under way', () => deliver !== null);
  await pause(10_500);
  await Promise.all([page.locator('.toast').getByText('arrived too late').waitFor(), deliver()]);
  await pause(300);
  assert.equal(world.has('late.txt'), false);
  await allow(page).click();
  await until('it ran', () => world.has('late.txt'));
}
