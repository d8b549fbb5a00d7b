/** Coming in, beginning, and seeing what is said. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { putAside, said, say, until } from './world.mjs';

export async function every_module_is_named(world) {
  const web = new URL('../../crates/bridge/web/', import.meta.url);
  const there = readdirSync(new URL('js/', web), { recursive: true }).filter((name) => name.endsWith('.js')).map((name) => `js/${name}`).sort();
  const named = [...readFileSync(new URL('index.html', web), 'utf8').matchAll(/(?:href|src)="(js\/[^"]+)"/g)].map(([, name]) => name).sort();
  assert.deepEqual(named, there);
  // And none of them is asked for twice, or in vain.
  await world.serve();
  const page = await world.stranger();
  const bad = [];
  page.on('response', (response) => { if (/\.(js|css)$/.test(response.url()) && !response.ok()) bad.push(response.url()); });
  await page.goto(world.info.url);
  await page.getByText('This browser is not paired yet').waitFor();
  assert.deepEqual(bad, []);
  // The second time no script and no style comes over the network: their addresses have the page's version in them.
  await page.goto(`${world.info.url}/?again`);
  await page.getByText('This browser is not paired yet').waitFor();
  const again = await page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => /\.(js|css)$/.test(name)).map(({ name, transferSize }) => [name, transferSize]));
  assert.ok(again.length >= there.length, String(again));
  assert.deepEqual(again.filter(([name, bytes]) => bytes !== 0 || !/\/v\/[0-9a-f]{16}\//.test(name)), []);
}

export async function pairing(world) {
  const { pairing_url } = await world.serve({ script: 'demo' });
  const page = await world.stranger();
  // Without a code the page says what to do, and shows nothing else.
  await page.goto(pairing_url.replace(/#.*/, ''));
  await page.getByText('This browser is not paired yet').waitFor();
  assert.equal(await page.locator('.list-pane').count(), 0);
  await page.getByLabel('Pairing code').fill('wrong');
  await page.getByRole('button', { name: 'Pair this browser' }).click();
  await until('the wrong code is refused', async () => (await page.getByRole('alert').textContent()) !== '');
  // With the address it is one press of a button, and the code is gone from the address.
  await page.goto('about:blank');
  await page.goto(pairing_url);
  await page.getByLabel('Name of this device').fill('The first');
  await page.getByRole('button', { name: 'Pair this browser' }).click();
  await page.getByText('No sessions yet.').waitFor();
  assert.equal(new URL(page.url()).hash, '#/');
  const cookies = await page.context().cookies();
  assert.ok(cookies.every((cookie) => cookie.httpOnly && cookie.sameSite === 'Strict'), JSON.stringify(cookies));
  // Another port of the host is sent no cookie, and storage without a cookie or a cookie without storage is not enough.
  assert.ok(cookies.length === 1 && cookies[0].path.length > 30, JSON.stringify(cookies));
  const stored = await page.context().storageState();
  const half = await world.stranger();
  await half.context().addCookies(stored.cookies);
  await half.goto(pairing_url.replace(/#.*/, ''));
  await half.getByText('This browser is not paired yet').waitFor();
  // It works once.
  const second = await world.stranger();
  await second.goto(pairing_url);
  await second.getByRole('button', { name: 'Pair this browser' }).click();
  await until('the used code is refused', async () => (await second.getByRole('alert').textContent()) !== '');
  // The first one is known from now on.
  await page.reload();
  await page.getByText('No sessions yet.').waitFor();
}

export async function a_session_in_the_demo(world) {
  await world.serve({ script: 'demo' });
  const page = await world.page();
  await page.getByText('Demo: a script plays the model.').waitFor();
  const session = await world.start(page, 'hello');
  await said(page, 'This is the demo');
  await page.locator('.row.user').getByText('hello').waitFor();
  await page.locator('.row.turn').waitFor();
  const card = page.locator(`.card[data-session="${session}"]`);
  await card.locator('.light.ready').waitFor();
  await page.getByRole('heading', { name: 'Ready' }).waitFor();
  await say(page, 'think');
  await said(page, 'I thought about ships');
  const thought = page.locator('.thinking');
  assert.equal(await thought.getAttribute('open'), null);
  await thought.locator('summary').click();
  await thought.getByText('a ship has two ends').waitFor();
}

export async function what_a_card_tells(world) {
  execFileSync('git', ['-C', world.project, 'init', '--initial-branch=spring-tide'], { stdio: 'ignore' });
  await world.serve();
  const page = await world.page();
  const quiet = await world.start(page, 'markdown');
  await page.locator('.row.turn').waitFor();
  // Project, branch, the last words without their Markdown; the same in the chat, with seconds and tokens. A script costs nothing.
  const card = (id) => page.locator(`.card[data-session="${id}"]`);
  await until('all of it is told', async () => /^harbour.*, Ready.*\| 1 +\| 2 +\|.*spring-tide$/.test((await card(quiet).textContent()).replaceAll('\n', ' ')));
  assert.match(await page.locator('.row.turn').textContent(), /^<?[\d.]+ s · \d+ tokens$/);
  await until('the chat tells it too', async () => /harbour · spring-tide/.test(await page.locator('.chat-place').textContent()));
  assert.match(await page.locator('.status-line').textContent(), /Ask.+\d+% of the context used$/);
  // The user's words are on the right, the model's on the left.
  const [user, model] = await Promise.all(['.row.user .bubble', '.row.said .prose'].map((place) => page.locator(place).first().boundingBox()));
  const log = await page.locator('.chat-column').boundingBox();
  assert.ok(user.x + user.width > log.x + log.width - 40 && user.x > log.x + 40, JSON.stringify(user));
  assert.ok(model.x < log.x + 40, JSON.stringify(model));
  // One that works tells for how long, and one that waits for its user comes before all others.
  const working = await world.start(page, 'a never ending story');
  await card(working).locator('.light.working').waitFor();
  await until('time passes', async () => /^[1-9]\d* s$/.test(await card(working).locator('.card-time').textContent()));
  const needy = await world.start(page, 'run touch denied.txt');
  await card(needy).getByRole('button', { name: 'Deny' }).waitFor();
  const order = await page.locator('.sessions > *').evaluateAll((all) => all.map((element) => element.dataset.word ?? element.dataset.session));
  assert.deepEqual(order, ['needs', needy, 'working', working, 'ready', quiet]);
  // A refusal needs no chat either.
  await page.evaluate(() => { location.hash = '#/'; });
  await card(needy).getByRole('button', { name: 'Deny' }).click();
  await card(needy).locator('.light.ready').waitFor();
  assert.equal(world.has('denied.txt'), false);
}

export async function nothing_is_allowed_unseen(world) {
  await world.serve();
  const page = await world.page();
  // What is hidden behind the first line of a command is seen before it is allowed.
  const two = await world.start(page, 'run touch first.txt\ntouch second.txt');
  const card = (id) => page.locator(`.card[data-session="${id}"]`);
  await card(two).locator('.asked-target').getByText('touch second.txt').waitFor();
  await card(two).getByRole('button', { name: 'Allow' }).click();
  await until('both ran', () => world.has('second.txt'));
  // And what is too long for a card is looked at in the chat.
  const long = await world.start(page, `run touch ${Array.from({ length: 60 }, (_, index) => `file-${index}`).join(' ')}`);
  await card(long).getByRole('button', { name: 'Details' }).waitFor();
  assert.equal(await card(long).getByRole('button', { name: 'Allow' }).count(), 0);
  await page.getByRole('region', { name: /^Approval:/ }).getByText('file-59').waitFor();
}

export async function only_what_is_shown_is_sent(world) {
  await world.serve();
  const page = await world.page({ name: 'Reader' });
  const other = await world.page({ name: 'Elsewhere' });
  const heard = [];
  other.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => heard.push(JSON.parse(payload).type)));
  await other.reload();
  await other.locator('.list-head .sync.live').waitFor({ state: 'attached' });
  const session = await world.start(page, 'many pieces');
  await said(page, 'the very last word');
  await other.locator(`.card[data-session="${session}"]`).getByText('the very last word').waitFor();
  // The list follows, and the words of a session that is not shown do not come; nor is its page counted among the readers.
  assert.ok(heard.includes('session_changed'), String(heard));
  assert.deepEqual(heard.filter((type) => /delta|assistant|user_input/.test(type)), []);
  assert.equal(/devices/.test(await page.locator('.chat-place').textContent()), false);
  await world.join(other, session);
  await page.locator('.chat-place').getByText('2 devices').waitFor();
  await other.evaluate(() => { location.hash = '#/'; });
  const hasLeft = () => until('it has left', async () => !/devices/.test(await page.locator('.chat-place').textContent()));
  await hasLeft();
  // Who leaves before the session was there does not come back as a reader when it is.
  await other.evaluate(async (id) => {
    const arrived = new Promise((resolve) => { addEventListener('hashchange', resolve, { once: true }); });
    location.hash = `#/s/${id}`;
    await arrived;
    location.hash = '#/';
  }, session);
  await other.locator('.nothing').waitFor();
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  await hasLeft();
}

export async function words_as_they_come(world) {
  await world.serve();
  const page = await world.page();
  const session = await world.start(page, 'a never ending story');
  // The model has not finished, and never will: what is seen was streamed.
  await page.locator('.streaming').getByText('goes on and on').waitFor();
  await page.locator(`.card[data-session="${session}"] .light.working`).waitFor();
  assert.equal(await page.locator('.rows .row.said').count(), 0);
  // Stopping keeps what was said.
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.locator('.row.note').getByText('Interrupted by Laptop').waitFor();
  await page.locator('.rows .row.said').getByText('goes on and on').waitFor();
  await until('nothing is streamed any more', async () => !(await page.locator('.streaming').isVisible()));
  await say(page, 'still there?');
  await said(page, /You said: [^]*still there\?/);
}

export async function markdown_as_it_comes(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'an open end in markdown');
  // What is not finished yet looks as it will look, and never like its source.
  const open = page.locator('.streaming');
  await open.getByRole('heading', { name: 'A heading' }).waitFor();
  await open.locator('strong').getByText('bold').waitFor();
  await open.locator('pre code [class^="hl-"]').first().waitFor();
  assert.doesNotMatch(await open.innerText(), /\*\*|##|```/);
  // What stands is not drawn again, so that nobody loses what they have selected in it.
  const stays = await page.evaluate(async () => {
    const { growHtml } = await import(document.querySelector('link[href$="js/dom.js"]').href);
    const place = document.createElement('div');
    growHtml(place, '<p>one</p><p>tw</p>');
    const [first, second] = place.children;
    growHtml(place, '<p>one</p><p>two</p><p>three</p>');
    return place.children[0] === first && place.children[1] !== second && place.innerHTML === '<p>one</p><p>two</p><p>three</p>';
  });
  assert.equal(stays, true);
  // What is cut off keeps its looks, and its place.
  const top = await open.boundingBox();
  await page.getByRole('button', { name: 'Stop' }).click();
  const kept = page.locator('.rows .row.said .prose');
  await kept.getByRole('heading', { name: 'A heading' }).waitFor();
  assert.equal(await kept.locator('strong').textContent(), 'bold');
  const moved = (await kept.boundingBox()).y - top.y;
  assert.ok(Math.abs(moved) < 60, `what was read moved by ${moved} pixels`);
}

export async function words_that_are_seen_to_grow(world) {
  await world.serve();
  const page = await world.page();
  await page.addInitScript(() => {
    window.seen = [];
    new MutationObserver(() => {
      const text = document.querySelector('.streaming')?.textContent ?? '';
      if (text !== '' && text !== window.seen.at(-1)) window.seen.push(text);
    }).observe(document, { subtree: true, childList: true, characterData: true });
  });
  await page.reload();
  await world.start(page, 'many pieces');
  await said(page, 'the very last word');
  await page.locator('.row.turn').waitFor();
  const seen = await page.evaluate(() => window.seen);
  assert.ok(seen.length >= 4, `${seen.length} steps`);
  seen.reduce((before, now) => {
    assert.ok(now.length >= before.length, `it shrank from ${JSON.stringify(before)} to ${JSON.stringify(now)}`);
    return now;
  }, '');
}

export async function markdown(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'markdown please');
  const text = page.locator('.row.said .prose');
  await text.getByRole('heading', { name: 'A heading' }).waitFor();
  assert.equal(await text.locator('strong').first().textContent(), 'bold');
  assert.equal(await text.locator('pre code [class^="hl-"]').count() > 0, true);
  const link = text.getByRole('link', { name: 'a link' });
  assert.equal(await link.getAttribute('href'), 'https://example.com/');
  assert.match(await link.getAttribute('rel'), /noopener/);
  assert.equal(await text.getByRole('cell').count(), 2);
  assert.deepEqual(await text.getByRole('cell').evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).textAlign)), ['start', 'right']);
  // Code can be taken along.
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await text.getByRole('button', { name: 'Copy code' }).click();
  await until('it is copied', async () => (await page.evaluate(() => navigator.clipboard.readText())) === 'fn main() { println!("hello"); }\n');
}

export async function reload_in_mid_stream(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'a never ending story');
  await page.locator('.streaming').getByText('goes on and on').waitFor();
  await page.reload();
  // Nothing of the open message is in the log yet, and still all of it is there.
  await page.locator('.streaming').getByText('This is the beginning').waitFor();
  assert.equal((await page.locator('.streaming').textContent()).match(/beginning/g).length, 1);
  assert.equal(await page.locator('.row.user').count(), 1);
  // And what is still coming comes to its end, with nothing missing at the seam.
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.locator('.row.note').getByText('Interrupted').waitFor();
  await say(page, 'many pieces');
  await page.locator('.streaming').getByText('one two').waitFor();
  await page.reload();
  await said(page, 'the very last word');
  await page.locator('.rows .row.said').getByText('the very last word').waitFor();
  const whole = (await page.locator('.rows .row.said').last().textContent()).trim().split(/\s+/);
  assert.equal(whole.length, 64);
}

export async function tools_and_subagents(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'look around');
  await page.locator('.row.turn').waitFor();
  const run = page.locator('details.run');
  await run.getByText('Read 1 file, ran 2 commands').waitFor();
  await run.getByText('1 failed').waitFor();
  assert.equal(await run.getAttribute('open'), null);
  await run.locator('> summary').click();
  await run.locator('.call').getByText('README.md').waitFor();
  assert.equal(await run.locator('.call').count(), 3);
  await run.locator('.call summary').first().click();
  await run.locator('.call-output').getByText('# Harbour').waitFor();
  // What a subagent does is below the call that sent it.
  await say(page, 'send somebody');
  const below = page.locator('.row.tools .below');
  await below.getByText('2 steps').waitFor();
  await below.locator('summary').first().click();
  await below.getByText('README.md').waitFor();
  await below.getByText('The subagent has read it.').first().waitFor();
  await page.locator('.below-live').waitFor({ state: 'detached' });
  // While it works, also in the background, its last lines are seen without opening anything.
  await say(page, 'send the slow one');
  const slow = page.locator('.call-whole').last();
  await slow.locator('.below-live').getByText('Read README.md').waitFor();
  assert.equal(await slow.locator('.below-all').getAttribute('open'), null);
  await slow.locator('.call.running').waitFor();
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('button', { name: /^End session/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
  await slow.locator('.below-live').waitFor({ state: 'detached' });
}

export async function sessions_from_before(world) {
  await world.serve();
  const page = await world.page();
  const session = await world.start(page, 'remember the albatross');
  await page.locator('.row.turn').waitFor();
  const recent = page.locator('.recent-row').getByText('albatross');
  await recent.waitFor({ state: 'detached' });
  await putAside(page);
  // It has left the list; among those on disk it is found, also by its words.
  await page.locator(`.card[data-session="${session}"]`).waitFor({ state: 'detached' });
  await recent.waitFor();
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('no such bird');
  await recent.waitFor({ state: 'detached' });
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('albatross');
  await recent.click();
  await page.getByRole('dialog', { name: 'Resume session' }).getByRole('button', { name: /^Resume/ }).click();
  await page.locator('.chat[data-session]').waitFor();
  await say(page, 'here again');
  await said(page, 'You said: here again');
}

export async function commands_are_completed(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'hello');
  await page.locator('.row.turn').waitFor();
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.fill('/');
  const list = page.getByRole('listbox', { name: 'Commands' });
  await list.waitFor();
  const first = await list.getByRole('option').first().textContent();
  const second = await list.getByRole('option').nth(1).textContent();
  assert.equal(await list.getByRole('option', { selected: true }).textContent(), first);
  await field.press('ArrowDown');
  assert.equal(await list.getByRole('option', { selected: true }).textContent(), second);
  await field.press('Enter');
  assert.equal(await field.inputValue(), `${second} `);
  await list.waitFor({ state: 'hidden' });
}

export async function pictures(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'hello');
  await page.locator('.row.turn').waitFor();
  await page.getByRole('textbox', { name: 'Message', exact: true }).focus();
  await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(40, 30);
    canvas.getContext('2d').fillRect(0, 0, 40, 30);
    const data = new DataTransfer();
    data.items.add(new File([await canvas.convertToBlob()], 'chart.png', { type: 'image/png' }));
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.getByRole('img', { name: 'Picture 1' }).waitFor();
  await say(page, 'what is this?');
  await said(page, 'You said: what is this?');
  const picture = page.locator('.row.user').getByRole('img', { name: 'Attached picture' });
  assert.match(await picture.getAttribute('src'), /^data:image\/png;base64,/);
  assert.equal(await page.locator('.thumb').count(), 0);
}
