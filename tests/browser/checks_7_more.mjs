/** Sessions beside the one that is shown: put aside, in use elsewhere, from long ago; and what nobody has foreseen. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rested, said, say, until } from './world.mjs';

const card = (page) => page.getByRole('region', { name: /^Approval:/ });

const archive = async (page) => {
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('button', { name: /^Archive/ }).click();
};

export async function older_sessions_come_page_by_page(world) {
  const folder = join(world.folder, 'state', 'agent', 'projects', world.project.replaceAll(/[^a-zA-Z0-9]/g, '-'));
  mkdirSync(folder, { recursive: true });
  for (let number = 1; number <= 30; number += 1) {
    const sessionId = randomUUID();
    const message = { role: 'user', content: `voyage ${number} of the ship` };
    const line = { parentUuid: null, isSidechain: false, userType: 'external', cwd: world.project, sessionId, version: '2.1.0', gitBranch: 'main', type: 'user', message, uuid: randomUUID(), timestamp: '2026-03-01T10:00:00.000Z' };
    const file = join(folder, `${sessionId}.jsonl`);
    writeFileSync(file, `${JSON.stringify(line)}\n`);
    const at = Date.now() / 1000 - number * 3600;
    utimesSync(file, at, at);
  }
  await world.serve();
  const page = await world.page();
  const names = page.locator('.recent-name');
  const more = page.getByRole('button', { name: 'Show more' });
  for (const shown of [12, 24, 30]) {
    await until(`${shown} are shown`, async () => (await names.count()) === shown);
    if (shown < 30) await more.click();
  }
  await more.waitFor({ state: 'detached' });
  // Each of them once, the newest first.
  assert.deepEqual(await names.allTextContents(), Array.from({ length: 30 }, (_, index) => `voyage ${index + 1} of the ship`));
  // One that is on no page that was shown is found by its words, and what was said in it is there when it goes on.
  await page.reload();
  await until('twelve are shown', async () => (await names.count()) === 12);
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('VOYAGE 29');
  await until('one is left', async () => (await names.allTextContents()).join() === 'voyage 29 of the ship');
  await names.click();
  await page.getByRole('dialog', { name: 'Resume session' }).getByRole('button', { name: /^Resume/ }).click();
  await page.locator('.row.user').getByText('voyage 29 of the ship').waitFor();
}

export async function put_aside_and_in_use(world) {
  await world.serve();
  const page = await world.page();
  const first = await world.start(page, 'remember the gannet');
  await rested(page);
  await archive(page);
  // It runs on, and whoever wants to go on with it is told so.
  const row = page.locator('.recent-row').getByText('gannet');
  const choose = async (name) => {
    await row.click();
    await page.getByRole('dialog', { name: 'This session is in use' }).getByRole('button', { name }).click();
  };
  await choose(/^Join/);
  await page.locator(`.chat[data-session="${first}"]`).waitFor();
  // From a copy, without the original.
  await choose(/^Fork/);
  await page.locator(`.chat[data-session]:not([data-session="${first}"])`).waitFor();
  await say(page, 'the copy');
  await said(page, 'You said: the copy');
  await archive(page);
  // Taken over: whoever had it sees that it was stopped, and by whom.
  const other = await world.page({ name: 'Elsewhere' });
  await world.join(other, first);
  await other.locator('.row.user').getByText('remember the gannet').waitFor();
  assert.equal(await other.locator('.row.user').getByText('the copy', { exact: true }).count(), 0);
  await page.locator('.recent-row', { hasText: 'gannet' }).last().click();
  await page.getByRole('dialog', { name: 'This session is in use' }).getByRole('button', { name: /^Take over/ }).click();
  await other.locator('.row.note').getByText('Stopped by Laptop').waitFor();
  // It is in the list again when it is taken back.
  await other.getByRole('button', { name: 'Session menu' }).click();
  await other.getByRole('button', { name: /^Unarchive/ }).click();
  await page.locator(`.card[data-session="${first}"]`).waitFor();
}

export async function deny_and_stop(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'run touch stopped.txt');
  await card(page).getByRole('button', { name: 'Deny…' }).click();
  await page.getByRole('textbox', { name: 'Reason for the model' }).fill('that is all for today');
  await card(page).getByRole('button', { name: 'Deny and stop' }).click();
  await page.locator('.row.resolved.denied').getByText('that is all for today').waitFor();
  // The model is not asked what it makes of it.
  await page.locator('.card .light.ready').waitFor();
  await page.locator('.row.note:not(.bad)').getByText('Interrupted by Laptop').waitFor();
  assert.equal(await page.locator('.rows .row.said').count(), 0);
  assert.equal(world.has('stopped.txt'), false);
  await say(page, 'hello');
  await page.locator('.rows .row.said').waitFor();
}

export async function what_nobody_has_foreseen_is_shown(world) {
  await world.serve({ script: 'odd.toml' });
  const page = await world.page();
  await world.start(page, 'hello');
  await said(page, 'Fair winds.');
  const frame = page.locator('.row.frame').filter({ hasText: 'weather_report' });
  await frame.locator('summary').click();
  await frame.getByText('"wind": "north-west <b>seven</b>"').waitFor();
  assert.equal(await frame.locator('b').count(), 0);
}

export async function it_can_be_installed(world) {
  await world.serve({ path: '/pilot/house' });
  const page = await world.page();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  const client = await page.context().newCDPSession(page);
  const { url, errors, data } = await client.send('Page.getAppManifest');
  assert.deepEqual(errors, []);
  const manifest = JSON.parse(data);
  const at = (address) => new URL(address, url).href;
  assert.deepEqual([at(manifest.start_url), at(manifest.scope), manifest.display], [`${world.gate.url}/`, `${world.gate.url}/`, 'standalone']);
  const sizes = await page.evaluate((icons) => Promise.all(icons.map(async ({ src }) => {
    const picture = new Image();
    picture.src = src;
    await picture.decode();
    return picture.naturalWidth;
  })), manifest.icons.filter(({ type }) => type === 'image/png').map(({ src }) => ({ src: at(src) })));
  assert.deepEqual(sizes, [192, 512]);
}
