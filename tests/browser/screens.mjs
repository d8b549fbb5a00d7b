/** The README's pictures: list, chat, approval and diff, on a phone and on a desk, by day and by night. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { armed, until } from './world.mjs';

/** Takes them all, into `folder`. */
export async function take(world, folder) {
  prepare(world);
  await world.serve({ script: 'screens.toml' });
  const sessions = await sail(world);
  for (const [device, phone] of [['desktop', false], ['phone', true]]) {
    for (const [light, dark] of [['light', false], ['dark', true]]) {
      const page = await world.page({ name: phone ? 'Phone' : 'Laptop', phone, dark });
      const shoot = async (view) => {
        // Clocks and lamps differ from picture to picture; the pictures should not.
        await page.evaluate(() => { document.activeElement?.blur(); });
        await page.screenshot({ path: join(folder, `page-${view}-${device}-${light}.png`), animations: 'disabled', caret: 'hide', scale: 'css' });
      };
      await page.locator('.card.needs').first().waitFor();
      await until('all cards are there', async () => (await page.locator('.card').count()) === 3);
      await armed(page.locator('.asked .button.deny').first());
      await shoot('list');
      await world.join(page, sessions.chat);
      await page.locator('.row.turn').waitFor();
      await shoot('chat');
      await world.join(page, sessions.approval);
      await armed(page.getByRole('button', { name: 'Allow once' }));
      await shoot('approval');
      await world.join(page, sessions.diff);
      await page.locator('.approval .diff-line').first().waitFor();
      // On a phone there is more of it below, and Allow waits until that was read.
      await page.locator('.approval :is(.button.allow:not([aria-disabled]), .approval-more:not([hidden]))').first().waitFor();
      await shoot('diff');
    }
  }
}

/** A project worth a picture. */
function prepare(world) {
  const projects = { lighthouse: 'lamp.rs', tides: 'tides.py' };
  for (const [name, file] of Object.entries(projects)) {
    const folder = join(world.folder, 'projects', name, 'src');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, file), FILES[file]);
  }
  for (const name of [...Object.keys(projects), 'harbour']) {
    const git = (...args) => execFileSync('git', ['-C', join(world.folder, 'projects', name), ...args], { stdio: 'ignore' });
    git('init', '--initial-branch=main');
  }
}

const FILES = {
  'lamp.rs': 'pub struct Lamp {\n    lit: bool,\n}\n\nimpl Lamp {\n    pub fn flash(&mut self) {\n        self.lit = true;\n        self.lit = false;\n    }\n}\n',
  'tides.py': 'def height(hour):\n    return 2.0\n',
};

/** Three sessions: one has answered, one asks for a command, one for a change. */
async function sail(world) {
  const page = await world.page({ name: 'Laptop' });
  const open = async (project, words, title) => {
    await page.getByRole('button', { name: 'New session' }).first().click();
    await page.getByLabel('Project directory').fill(join(world.folder, 'projects', project));
    await page.getByLabel('First message').fill(words);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.locator('.row.user').getByText(words).waitFor();
    await page.getByRole('button', { name: 'Session menu' }).click();
    await page.getByRole('button', { name: /^Rename/ }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill(title);
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: title }).waitFor();
    return page.locator('.chat').getAttribute('data-session');
  };
  const chat = await open('harbour', 'Which berths are free tonight?', 'Free berths');
  await page.locator('.row.turn').waitFor();
  const approval = await open('tides', 'Publish the tide tables', 'Publish tide tables');
  await page.getByRole('button', { name: 'Allow once' }).waitFor();
  const diff = await open('lighthouse', 'Make the lamp flash three times', 'Three flashes');
  await page.getByRole('button', { name: 'Allow once' }).waitFor();
  return { chat, approval, diff };
}

