/** Nobody is left out: not those with a keyboard alone, not those who hear the page, not those whom motion makes sick. */
import assert from 'node:assert/strict';
import { AXE, armed, said, say, until } from './world.mjs';

const card = (page) => page.getByRole('region', { name: /^Approval:/ });

export async function accessible(world) {
  await world.serve();
  for (const how of [{ dark: false }, { dark: true, phone: true }]) {
    const page = await world.page(how);
    const inspect = async (what) => {
      // What moves in is looked at when it is there.
      await page.evaluate(() => Promise.all(document.getAnimations().filter((animation) => animation.effect?.getTiming().iterations !== Infinity).map((animation) => animation.finished.catch(() => {}))));
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      const serious = violations.filter(({ impact }) => impact !== 'minor');
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

/** What has the focus, by its name, and whether that is seen. */
function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    // Beyond the last there is the browser itself.
    if (element === document.body) return { name: '', isSeen: true };
    const name = element.getAttribute('aria-label') ?? (element.labels?.[0]?.textContent || element.textContent);
    // Some show it on what stands around them or beside them.
    const shown = [element, element.nextElementSibling, element.closest('.composer, .search, .option, .rule, .approval')].filter((shows) => shows !== null);
    const isSeen = shown.some((shows) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(shows);
      return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1) || boxShadow.includes('0px 0px 0px 1px');
    });
    return { name: name.trim(), isSeen };
  });
}

export async function by_keyboard_alone(world) {
  const { pairing_url } = await world.serve();
  const page = await world.stranger();
  const { keyboard } = page;
  // Goes on with the Tab key to what has this name, and sees at each step where it is.
  const reach = async (name, key = 'Tab') => {
    const been = [];
    for (let step = 0; step < 60; step += 1) {
      await keyboard.press(key);
      const { name: here, isSeen } = await focused(page);
      been.push(here);
      assert.ok(isSeen || here === 'Conversation', `nobody sees that the focus is on ${here}`);
      if (typeof name === 'string' ? here === name : name.test(here)) return;
    }
    throw new Error(`${name} cannot be reached: ${been.join(' | ')}`);
  };
  const decide = async () => {
    await armed(page.locator(':focus'));
    await keyboard.press('Enter');
  };
  const at = async (name) => until(`the focus is on ${name}`, async () => (await focused(page)).name === name);
  await page.goto(pairing_url);
  await reach('Pair this browser');
  await keyboard.press('Enter');
  await page.getByText('No sessions yet.').waitFor();
  await reach('New session');
  await keyboard.press('Enter');
  await at('First message');
  await keyboard.type('run touch typed.txt');
  await reach('Project directory', 'Shift+Tab');
  await keyboard.press('Control+A');
  await keyboard.type(world.project);
  await reach('Start');
  await keyboard.press('Enter');
  await at('Message');
  await card(page).waitFor();
  // Allow, which is just before the field. Then the field has the focus again.
  await reach('Allow once', 'Shift+Tab');
  await decide();
  await until('the command ran', () => world.has('typed.txt'));
  await at('Message');
  // Deny, with a reason.
  await keyboard.type('run touch refused.txt');
  await keyboard.press('Enter');
  await card(page).waitFor();
  await reach('Deny…', 'Shift+Tab');
  await keyboard.press('Enter');
  await at('Reason for the model');
  await keyboard.type('the tide is out');
  await armed(card(page).getByRole('button', { name: 'Deny', exact: true }));
  await keyboard.press('Control+Enter');
  await said(page, /You said no: .*the tide is out/);
  await at('Message');
  // Several at once: the next card takes over, but none of its buttons, so that no second press decides unseen.
  await keyboard.type('two at once');
  await keyboard.press('Enter');
  await page.getByText('2 waiting').waitFor();
  await reach('Allow once', 'Shift+Tab');
  await decide();
  await page.locator('.row.resolved').nth(2).waitFor();
  await at('Approval: Read');
  await keyboard.press('Enter');
  assert.equal(await card(page).count(), 1);
  await reach('Allow once');
  await decide();
  await at('Message');
  // A question, by arrows.
  await page.locator('.row.turn').nth(2).waitFor();
  await keyboard.type('one question');
  await keyboard.press('Enter');
  await card(page).waitFor();
  // Backwards one comes to the last of the choices; below it is the first again.
  await reach('Other', 'Shift+Tab');
  await keyboard.press('ArrowDown');
  await keyboard.press('ArrowDown');
  await reach('Answer');
  await decide();
  await said(page, /Done with AskUserQuestion: .*Starboard/);
  await at('Message');
  // What waits is changed, and taken back.
  await page.locator('.row.turn').nth(3).waitFor();
  await keyboard.type('a never ending story');
  await keyboard.press('Enter');
  await page.locator('.streaming').getByText('on and on').waitFor();
  await keyboard.type('later');
  await keyboard.press('Enter');
  await page.locator('.queued').waitFor();
  await reach('Edit message', 'Shift+Tab');
  await keyboard.press('Enter');
  await at('Waiting message');
  await keyboard.type(', much later');
  await keyboard.press('Enter');
  await page.locator('.queued').getByText('later, much later').waitFor();
  await at('Message');
  await reach('Cancel message', 'Shift+Tab');
  await keyboard.press('Enter');
  await page.locator('.queued').waitFor({ state: 'detached' });
  await at('Message');
  await reach('Stop');
  await keyboard.press('Enter');
  await page.locator('.row.note').getByText('Interrupted').waitFor();
  // Menus give the focus back.
  await reach('Session menu', 'Shift+Tab');
  await keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Session' }).waitFor();
  await keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Session' }).waitFor({ state: 'detached' });
  await at('Session menu');
  await reach(/^Mode: Ask/);
  await keyboard.press('Enter');
  await reach(/^Plan/);
  await keyboard.press('Enter');
  await page.getByRole('button', { name: 'Mode: Plan. Change' }).waitFor();
  // From the list: a card that changes while it has the focus keeps it.
  await reach('Settings', 'Shift+Tab');
  await keyboard.press('Enter');
  await at('Settings');
  await page.locator('.device').first().waitFor();
  await reach(/^Revoke/);
}

/** What a screen reader is given, in the words of the page. */
export async function what_is_heard(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'run touch heard.txt');
  await card(page).waitFor();
  const heard = (words) => page.locator('#announcer').getByText(words).waitFor({ state: 'attached' });
  await heard(/^Needs you: Bash touch heard\.txt$/);
  await armed(card(page).getByRole('button', { name: 'Allow once' }));
  const spoken = await page.locator('.approval').ariaSnapshot();
  assert.equal(spoken, [
    `- 'region "Approval: Bash"':`,
    '  - heading "Bash wants to run a command" [level=3]:',
    '    - strong: Bash',
    '    - text: wants to run a command',
    '  - paragraph: Do what was asked',
    '  - group "What it would do":',
    '    - code: touch heard.txt',
    '  - paragraph:',
    '    - text: "This session:"',
    '    - code: allow Bash(touch heard.txt)',
    '  - button "Deny…"',
    '  - button "Always…"',
    '  - button "This session"',
    '  - button "Allow once"',
  ].join('\n'));
  // The list is told on its own, and perhaps a moment later.
  await until('the list says so', async () => /link "harbour , Needs you.* run touch heard\.txt.*"/.test(await page.locator('.card').ariaSnapshot()));
  await card(page).getByRole('button', { name: 'Allow once' }).click();
  await heard(/^The turn is done\. Done with Bash/);
  // What is said again is heard again.
  for (let times = 1; times <= 2; times += 1) {
    await say(page, 'ahoy');
    await until('it is heard', async () => (await page.locator('#announcer').getByText(/^The turn is done\. You said: ahoy$/).count()) === times);
  }
  // A turn that is over before its session was drawn is no old news to who has started it.
  await world.start(page, 'at once');
  await heard(/^The turn is done\. You said: at once$/);
  // Nothing on the page is without a name.
  for (const place of ['#/', '#/settings']) {
    await page.evaluate((place) => { location.hash = place; }, place);
    await page.locator(place === '#/' ? '.card' : '.device').first().waitFor();
    const all = await page.locator('body').ariaSnapshot();
    const nameless = all.split('\n').filter((line) => /^\s*- (button|link|textbox|combobox|searchbox|radio|checkbox|slider|img|region|group|listbox|dialog)(:| \[|$)/.test(line));
    assert.deepEqual(nameless, [], all);
  }
}

export async function motion_is_left_out(world) {
  await world.serve();
  const page = await world.page();
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await world.start(page, 'a never ending story');
  await page.locator('.streaming').getByText('on and on').waitFor();
  await page.getByRole('button', { name: 'Session menu' }).click();
  const moving = await page.evaluate(() => document.getAnimations()
    .filter((animation) => animation.playState === 'running' && animation.effect.getComputedTiming().activeDuration > 1)
    .map((animation) => `${animation.animationName} on ${animation.effect.target.className}`));
  assert.deepEqual(moving, []);
}
