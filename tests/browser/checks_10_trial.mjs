/** What an hour as a user found: each of these surprised somebody. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { armed, rested, said, say, until } from './world.mjs';

const SCRIPT = { script: 'trial.toml' };

const card = (page) => page.getByRole('region', { name: /^Approval:/ });
const button = (page, name) => card(page).getByRole('button', { name, exact: true });
const message = (page) => page.getByRole('textbox', { name: 'Message', exact: true });
const pause = (time) => new Promise((resolve) => { setTimeout(resolve, Math.max(0, time)); });
const heard = (page) => page.locator('#announcer').textContent();

/** A command of so many lines. */
const long = (lines) => Array.from({ length: lines }, (_, index) => `touch line-${index + 1}`).join('\n');

export async function fast_tapping_never_gets_through(world) {
  await world.serve(SCRIPT);
  for (const phone of [true, false]) {
    const page = await world.page({ phone });
    await world.start(page, 'three at once');
    const allow = button(page, 'Allow once');
    await armed(allow);
    const { x, y, width, height } = await allow.boundingBox();
    const start = Date.now();
    for (let tap = 0; tap < 12; tap += 1) {
      await pause(start + 250 * tap - Date.now());
      await (phone ? page.touchscreen.tap(x + width / 2, y + height / 2) : page.mouse.click(x + width / 2, y + height / 2));
    }
    await pause(300);
    assert.equal(await page.locator('.row.resolved').count(), 1, 'only the first was seen');
    // Who waits decides.
    await button(page, 'Allow once').click();
    await until('the second is allowed', async () => (await page.locator('.row.resolved').count()) === 2);
  }
}

export async function stop_takes_back_what_waits(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'a never ending story');
  await page.locator('.streaming').getByText('on and on').waitFor();
  await say(page, 'first in line');
  await say(page, 'second in line');
  const waiting = page.getByRole('list', { name: 'Waiting messages' }).getByRole('listitem');
  await until('two wait', async () => (await waiting.count()) === 2);
  await waiting.first().getByRole('button', { name: 'Edit message' }).click();
  await page.getByRole('textbox', { name: 'Waiting message' }).fill('first, but other words');
  await message(page).fill('half a thought');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.locator('.row.note').getByText(/^Interrupted/).waitFor();
  assert.equal(await message(page).inputValue(), 'half a thought\n\nfirst, but other words\n\nsecond in line');
  await page.locator('.toast').getByText('2 waiting messages not sent: back in the message field.').waitFor();
  assert.match(await heard(page), /2 waiting messages not sent/);
  await pause(500);
  assert.equal(await page.locator('.row.user').count(), 1, 'nothing was sent');
  assert.equal(await waiting.count(), 0);
  // They outlive a reload, as everything that was typed there.
  await page.reload();
  await until('it is there again', async () => /second in line$/.test(await message(page).inputValue()));
}

export async function deny_and_stop_takes_back_what_waits(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'run touch never.txt');
  await card(page).waitFor();
  await say(page, 'later');
  await page.getByRole('list', { name: 'Waiting messages' }).getByText('later').waitFor();
  await button(page, 'Deny…').click();
  await button(page, 'Deny and stop').click();
  await page.locator('.row.resolved.denied').waitFor();
  await until('it is back', async () => (await message(page).inputValue()) === 'later');
  await pause(500);
  assert.equal(await page.locator('.row.user').count(), 1);
}

export async function feedback_on_a_plan_is_not_thrown_away(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'make a plan', 'plan');
  await card(page).getByText('is ready for review').waitFor();
  const accept = button(page, 'Accept plan');
  const feedback = card(page).getByRole('textbox', { name: 'Feedback on the plan' });
  await armed(accept);
  await feedback.fill('leave the docs alone');
  assert.equal(await accept.isEnabled(), false);
  await card(page).getByText('Send the feedback with Keep planning, or clear it to accept.').waitFor();
  // It outlives a reload.
  await page.reload();
  await until('the words are there', async () => (await feedback.inputValue()) === 'leave the docs alone');
  await feedback.fill('');
  await armed(accept);
  await accept.click();
  await page.locator('.row.resolved').getByText('Allowed').waitFor();
}

export async function a_long_command_is_not_told_by_its_first_line_alone(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, `run ${long(31)}`);
  await card(page).waitFor();
  await until('it is told', async () => (await heard(page)).includes('Needs you: Bash touch line-1… (31 lines)'));
  const call = page.locator('.row.tools .call > summary');
  assert.match(await call.textContent(), /touch line-1… \(31 lines\)/);
  assert.ok(await call.getByText('… (31 lines)').isVisible());
  await button(page, 'Deny…').click();
  await button(page, 'Deny').click();
  await page.locator('.row.resolved').waitFor();
  assert.match(await page.locator('.row.resolved').textContent(), /^Denied Bashtouch line-1… \(31 lines\) · Laptop$/);
  // A long line stays within the column.
  await say(page, `run touch ${'word '.repeat(60)}`);
  await button(page, 'Deny…').click();
  await button(page, 'Deny').click();
  await page.locator('.row.resolved').nth(1).waitFor();
  const right = (place) => place.evaluate((element) => element.getBoundingClientRect().right);
  assert.ok(await right(page.locator('.row.resolved code').last()) <= await right(page.locator('.chat-column')) + 1);
}

export async function always_is_said_of_what_is_stored(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'run touch once.txt');
  await button(page, 'This session').click();
  await page.locator('.row.resolved').getByText('Allowed for this session').waitFor();
  assert.equal(await page.getByText('Always allowed').count(), 0);
  await said(page, 'Done with Bash');
  // A change stores nothing: what is offered is a mode, and is called so.
  await say(page, 'change the file');
  await button(page, 'Accept all edits in this session').waitFor();
  assert.equal(await button(page, 'Always…').count(), 0);
  // On a narrow phone, too, its long name stays within the card.
  await page.setViewportSize({ width: 360, height: 740 });
  const right = (place) => place.evaluate((element) => element.getBoundingClientRect().right);
  assert.ok(await right(button(page, 'Accept all edits in this session')) < await right(card(page)) - 10);
  await page.setViewportSize({ width: 1280, height: 800 });
  await button(page, 'Accept all edits in this session').click();
  const last = page.locator('.row.resolved').last();
  await last.getByText('Accept all edits in this session').waitFor();
  assert.match(await last.textContent(), /^Allowed for this session Edit/);
  await page.getByRole('button', { name: 'Mode: Accept edits. Change' }).waitFor();
}

export async function half_a_reason_outlives_another_devices_decision(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  const other = await world.page({ phone: true, name: 'Pocket phone' });
  const session = await world.start(page, 'run touch raced.txt');
  await world.join(other, session);
  await button(page, 'Deny…').click();
  await page.keyboard.type('because it is');
  await button(other, 'Allow once').click();
  const left = page.getByRole('region', { name: 'Decided elsewhere' });
  await left.getByText('Allowed by Pocket phone: Bash touch raced.txt').waitFor();
  assert.match(await heard(page), /Allowed by Pocket phone/);
  // Whoever types on sends nothing.
  await page.keyboard.type(' late');
  await page.keyboard.press('Enter');
  await pause(300);
  assert.match(await left.getByRole('textbox').inputValue(), /^because it is late/);
  assert.equal(await message(page).inputValue(), '');
  assert.equal(await page.locator('.row.user').count(), 1);
  await left.getByRole('button', { name: 'Write as message' }).click();
  assert.match(await message(page).inputValue(), /^because it is late/);
  assert.equal(await left.count(), 0);
  // Nothing typed: the focus is not in the field for messages either.
  await message(page).fill('');
  await say(other, 'run touch raced-again.txt');
  await button(page, 'Deny…').click();
  await button(other, 'Allow once').click();
  await card(page).waitFor({ state: 'detached' });
  await page.keyboard.type('x');
  assert.equal(await message(page).inputValue(), '');
}

export async function what_waits_has_not_run(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'three at once');
  await button(page, 'Allow once').waitFor();
  const run = page.locator('.row.tools');
  assert.match(await run.textContent(), /^3 commands/);
  assert.equal(await run.getByText('Ran').count(), 0);
  assert.equal(await run.locator('.spinner').count(), 0);
  await run.locator('.call-line').getByText('waiting for approval').waitFor();
  for (let left = 3; left > 0; left -= 1) {
    await until('the next one asks', async () => (await page.locator('.row.resolved').count()) === 3 - left);
    await button(page, 'Allow once').click();
  }
  await rested(page);
  const titles = await page.locator('.row.tools').allTextContents();
  assert.ok(titles.every((title) => /^Ran |^Bash/.test(title)), String(titles));
}

export async function a_script_costs_nothing(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await page.locator('.agent-note').getByText('A script plays the model.', { exact: true }).waitFor();
  await world.start(page, 'hello');
  await rested(page);
  await page.locator('.status-line').getByText('Ask').waitFor();
  assert.doesNotMatch(await page.locator('#app').textContent(), /\$\d/);
  await page.evaluate(() => { location.hash = location.hash.replace('/s/', '/replay/'); });
  await page.locator('.replay-where').getByText(/\d+ \/ \d+/).waitFor();
  assert.doesNotMatch(await page.locator('#app').textContent(), /\$\d/);
}

export async function answers_survive_a_reload(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'two questions');
  await card(page).getByRole('radio', { name: /^Starboard/ }).check();
  await card(page).getByRole('checkbox', { name: /^Charts/ }).check();
  await card(page).getByRole('textbox', { name: 'Other answer to: What to take along?' }).fill('a lamp');
  await page.reload();
  await card(page).waitFor();
  assert.equal(await card(page).getByRole('radio', { name: /^Starboard/ }).isChecked(), true);
  assert.equal(await card(page).getByRole('checkbox', { name: /^Charts/ }).isChecked(), true);
  assert.equal(await card(page).getByRole('checkbox', { name: /^Ropes/ }).isChecked(), false);
  await armed(button(page, 'Answer'));
  await button(page, 'Answer').click();
  await page.locator('.row.resolved').getByText('Starboard; Charts, a lamp').waitFor();
}

export async function a_refused_login_does_not_contradict_itself(world) {
  const script = `${world.folder}/login.json`;
  const frame = { type: 'system', subtype: 'api_retry', attempt: 5, max_retries: 10, retry_delay_ms: 10_000, error_status: 401, error: 'authentication_failed', session_id: '{{session_id}}', uuid: '{{uuid}}' };
  writeFileSync(script, JSON.stringify({ turn: [{ say: 'Through at last.', else: true }], fault: [{ on: 'assistant', nth: 1, place: 'before', do: 'frame', frame }] }));
  await world.serve({ script });
  const page = await world.page();
  await world.start(page, 'hello');
  await said(page, 'Through at last.');
  const note = await page.locator('.row.note').first().textContent();
  assert.equal(note, 'Login refused (attempt 5 of 10). Waiting does not help: stop, restart the bridge with a valid ANTHROPIC_API_KEY, then send again.');
}

export async function mode_and_model_can_be_reached_on_a_low_screen(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await page.setViewportSize({ width: 640, height: 400 });
  await world.start(page, 'run touch low.txt');
  await card(page).waitFor();
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('button', { name: /^Model: / }).last().waitFor();
  await page.getByRole('dialog').getByRole('button', { name: /^Mode: Ask/ }).click();
  await page.getByRole('dialog', { name: 'Mode' }).getByRole('button', { name: /^Plan/ }).click();
  await until('the mode is another', async () => {
    await page.getByRole('button', { name: 'Session menu' }).click();
    const there = await page.getByRole('dialog').getByRole('button', { name: /^Mode: Plan/ }).count();
    await page.keyboard.press('Escape');
    return there === 1;
  });
}

export async function buttons_say_what_they_are_about_and_a_box_is_one_stop(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'run touch here.txt');
  await card(page).waitFor();
  assert.equal(await card(page).locator('.approval-body [tabindex="0"]').count(), 1);
  const deny = page.locator('.asked').getByRole('button', { name: 'Deny', exact: true });
  const about = await deny.evaluate((element) => document.getElementById(element.getAttribute('aria-describedby') ?? '')?.textContent);
  assert.equal(about, 'touch here.txt');
}

export async function an_output_that_ends_with_the_outcome_stands_at_its_end(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'run seq 1 100');
  await said(page, 'Done with Bash');
  await page.locator('.row.tools .call > summary').click();
  const output = page.locator('.call-output');
  await until('its end is in view', () => output.evaluate((element) => element.scrollHeight > element.clientHeight && element.scrollTop + element.clientHeight >= element.scrollHeight - 2));
}
