/** Nothing surprises: what is shown says what is so, and stays where it is looked at. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { AXE, PATIENCE, rested, said, say, until } from './world.mjs';

const SCRIPT = { script: 'surprises.toml' };

const card = (page) => page.getByRole('region', { name: /^Approval:/ });

const allow = async (page) => {
  const button = card(page).getByRole('button', { name: 'Allow once' });
  await button.waitFor();
  await until('it can be pressed', () => button.isEnabled());
  await button.click();
};

/** Whether an element is wholly within what is seen. */
const isSeen = (locator) => locator.evaluate((element) => {
  const { top, bottom, left, right } = element.getBoundingClientRect();
  return top >= 0 && left >= 0 && bottom <= innerHeight + 1 && right <= innerWidth + 1;
});

export async function an_api_error_says_what_happened_and_what_to_do(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  const rows = [
    ['an expired login', /Login refused/, /ANTHROPIC_API_KEY, then send again/],
    ['too often', /Rate limit reached/, /send again/],
    ['overloaded', /The model is overloaded/, /another model/],
    ['server trouble', /server error \(500\)/, /few minutes/],
    ['a bad request', /refused the request/, /Change your message/],
    ['a long story', /The conversation is too long/, /\/compact/],
    ['no network', /does not answer/, /network of the bridge/],
  ];
  for (const [words, what, todo] of rows) {
    await world.start(page, words);
    await rested(page);
    // An error is no answer of the model, and is told once.
    const notes = page.locator('.row.note.bad');
    assert.equal(await notes.count(), 1, words);
    assert.match(await notes.textContent(), what, words);
    assert.match(await notes.textContent(), todo, words);
    assert.equal(await page.locator('.rows .row.said').count(), 0, words);
    assert.equal(await page.getByText('busy').count(), 0, words);
  }
}

export async function attempts_take_one_line_and_limits_say_when_they_end(world) {
  const frame = (fields) => JSON.stringify({ ...fields, session_id: '{{session_id}}', uuid: '{{uuid}}' });
  const script = `${world.folder}/limits.json`;
  const resetsAt = Math.floor(Date.now() / 1000) + 600;
  const frames = [
    { type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 10, retry_delay_ms: 600, error_status: 401, error: 'authentication_failed' },
    { type: 'system', subtype: 'api_retry', attempt: 2, max_retries: 10, retry_delay_ms: 20_000, error_status: 429, error: 'rate_limit' },
    { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt, rateLimitType: 'five_hour' } },
  ];
  writeFileSync(script, JSON.stringify({
    turn: [{ say: 'Through at last.', else: true }],
    fault: frames.map((fields) => ({ on: 'assistant', nth: 1, place: 'before', do: 'frame', frame: JSON.parse(frame(fields)) })),
  }));
  await world.serve({ script });
  const page = await world.page();
  await world.start(page, 'hello');
  await said(page, 'Through at last.');
  const notes = await page.locator('.row.note').allTextContents();
  assert.deepEqual(notes.filter((note) => /Trying again/.test(note)), ['Rate limit reached. Trying again in 20 s (2 of 10).']);
  assert.equal(notes.filter((note) => /^Usage limit reached\. It resets (at|on) .+\.$/.test(note)).length, 1, String(notes));
}

export async function a_call_that_was_denied_has_not_failed(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'run touch denied.txt');
  await card(page).getByRole('button', { name: 'Deny…' }).click();
  await card(page).getByRole('button', { name: 'Deny', exact: true }).click();
  await said(page, 'You said no.');
  const call = page.locator('.row.tools .call');
  await call.locator('summary').getByText('denied', { exact: true }).waitFor();
  assert.equal(await call.locator('summary').getByText('failed').count(), 0);
  // A command that ran and failed still says so.
  await say(page, 'run cat missing.txt');
  await page.locator('.row.tools .call summary').getByText('failed').waitFor();
  // Denied by a mode, without anybody being asked.
  await page.getByRole('button', { name: /^Mode:/ }).click();
  await page.getByRole('dialog', { name: 'Mode' }).getByRole('button', { name: /^Don’t ask/ }).click();
  await page.getByRole('button', { name: 'Mode: Don’t ask. Change' }).waitFor();
  await say(page, 'run touch unasked.txt');
  await until('it is denied', async () => (await page.locator('.row.tools .call summary').getByText('denied', { exact: true }).count()) === 2);
}

export async function a_session_with_a_background_task_is_not_ready(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  const session = await world.start(page, 'behind: sleep 6');
  await said(page, 'Done with Bash.');
  const listed = page.locator(`.card[data-session="${session}"]`);
  await page.getByRole('heading', { name: 'Running in background' }).waitFor();
  await listed.locator('.light.background').waitFor();
  await page.locator('.working-line').getByText('Running in background').waitFor();
  // When it has ended, the session is ready.
  await listed.locator('.light.ready').waitFor();
  await page.locator('.working-line').getByText('Running in background').waitFor({ state: 'hidden' });
}

export async function a_queued_message_says_what_it_waits_for(world) {
  await world.serve(SCRIPT);
  const page = await world.page({ phone: true });
  await world.start(page, 'one question');
  await card(page).waitFor();
  await say(page, 'and one more thing');
  const queue = page.locator('.queue');
  await queue.getByText('Sent after you answer the question above').waitFor();
  await card(page).getByRole('radio', { name: /^Port/ }).check();
  await card(page).getByRole('button', { name: 'Answer' }).click();
  await said(page, 'You said: and one more thing');
  // A long one leaves its buttons where they can be pressed.
  await say(page, 'a never ending story');
  await page.locator('.streaming').getByText('on and on').waitFor();
  await say(page, `later ${'and-without-a-break-'.repeat(40)}`);
  await queue.getByText('Sent when this turn ends').waitFor();
  for (const name of ['Edit message', 'Cancel message']) assert.equal(await isSeen(page.getByRole('button', { name })), true, name);
  await page.getByRole('button', { name: 'Cancel message' }).click();
  await page.locator('.queued').waitFor({ state: 'detached' });
}

export async function a_revoked_device_is_told_so(world) {
  await world.serve(SCRIPT);
  const owner = await world.page({ name: 'Owner' });
  const guest = await world.page({ name: 'Guest' });
  await owner.getByRole('link', { name: 'Settings' }).click();
  await owner.getByRole('button', { name: 'Revoke Guest' }).click();
  await owner.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await guest.getByText('This device was revoked').waitFor();
  await guest.reload();
  await guest.getByText('This device was revoked').waitFor();
  const stranger = await world.stranger();
  await stranger.goto(world.info.url);
  await stranger.getByText('This browser is not paired yet').waitFor();
}

export async function a_subagents_prompt_is_not_in_the_conversation(world) {
  const script = `${world.folder}/subagent.json`;
  const parent = 'toolu_sent';
  const user = (text) => ({ type: 'user', message: { role: 'user', content: [{ type: 'text', text }] }, parent_tool_use_id: parent, session_id: '{{session_id}}', uuid: '{{uuid}}' });
  const prompt = 'Read the sign, and tell what is on it.';
  writeFileSync(script, JSON.stringify({
    turn: [
      { when: { user: 'send somebody' }, calls: [{ tool: 'Agent', id: parent, input: { description: 'Read the sign', prompt, subagent_type: 'general-purpose', run_in_background: false } }] },
      { when: { user: 'Read the sign' }, say: 'The sign says: mind the step.' },
      { else: true, say: 'Home again.' },
    ],
    fault: [prompt, `A much longer prompt. ${'All of it is for the subagent. '.repeat(30)}`].map((text) => ({ on: 'assistant', nth: 1, place: 'after', do: 'frame', frame: user(text) })),
  }));
  await world.serve({ script });
  const page = await world.page();
  await world.start(page, 'send somebody');
  await said(page, 'Home again.');
  await rested(page);
  const top = '.rows .chunk > ';
  assert.deepEqual(await page.locator(`${top}.row.note, ${top}.row.frame`).allTextContents(), []);
  assert.equal(await page.getByText('user', { exact: true }).count(), 0);
}

export async function a_new_session_keeps_what_was_typed(world) {
  await world.serve(SCRIPT);
  const page = await world.page({ phone: true });
  await page.getByRole('button', { name: 'New session' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New session' });
  const words = dialog.getByLabel('First message');
  assert.equal(await words.getAttribute('placeholder'), 'What should it do?');
  await words.fill('a long and careful prompt');
  // A tap beside the sheet closes it, and loses nothing.
  await page.mouse.click(180, 8);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New session' }).first().click();
  assert.equal(await words.inputValue(), 'a long and careful prompt');
  // Above a keyboard the button that starts is there without scrolling, with the cursor in the field.
  await page.setViewportSize({ width: 360, height: 400 });
  await words.focus();
  const start = dialog.getByRole('button', { name: 'Start', exact: true });
  await until('Start is seen', () => isSeen(start));
  // Of a path that is too long, the end is seen.
  const project = dialog.getByLabel('Project directory');
  await project.fill(`/home/somebody/${'a-long-folder/'.repeat(8)}the-project`);
  await words.focus();
  await until('the end is seen', () => project.evaluate((field) => field.scrollLeft + field.clientWidth >= field.scrollWidth - 2));
  await project.fill(world.project);
  await start.click();
  await said(page, 'a long and careful prompt');
  // What was sent is not a draft any more.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.evaluate(() => { location.hash = '#/'; });
  await page.getByRole('button', { name: 'New session' }).first().click();
  assert.equal(await words.inputValue(), '');
}

export async function what_is_opened_stays_in_sight(world) {
  await world.serve(SCRIPT);
  const page = await world.page({ phone: true });
  await world.start(page, 'think long');
  await rested(page);
  const thought = page.locator('.thinking');
  const before = (await thought.locator('summary').boundingBox()).y;
  await thought.locator('summary').click();
  await thought.getByText('The first line of the thought.').waitFor();
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  const after = (await thought.locator('summary').boundingBox()).y;
  assert.ok(Math.abs(after - before) < 4, `the thought moved by ${after - before} pixels`);
  // Who goes to the end follows again.
  await page.getByRole('button', { name: 'Go to the newest message' }).click();
  await say(page, 'hello');
  await said(page, 'You said: hello');
  await until('the end is seen', () => page.locator('.chat-log').evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 40));
}

export async function wide_tables_scroll_and_addresses_are_links(world) {
  await world.serve(SCRIPT);
  const page = await world.page({ phone: true });
  await world.start(page, 'wide table');
  await rested(page);
  const [tall, scrolls, reach] = await page.locator('.prose table').evaluate((table) => {
    const line = Number.parseFloat(getComputedStyle(table.rows[1].cells[0]).lineHeight);
    const frame = table.closest('[tabindex]') ?? table;
    return [table.rows[1].getBoundingClientRect().height / line, frame.scrollWidth > frame.clientWidth, frame.tabIndex];
  });
  assert.ok(tall < 5, `a row is ${tall} lines tall`);
  assert.equal(scrolls, true);
  assert.equal(reach, 0);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  const link = page.locator('.prose').getByRole('link', { name: 'https://example.com/pilot_book?page=1' });
  assert.equal(await link.getAttribute('href'), 'https://example.com/pilot_book?page=1');
  assert.match(await link.getAttribute('rel'), /noopener/);
}

export async function outputs_show_their_end_and_their_colours(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, `run printf '\\033[31mred\\033[0m <b>plain</b> \\033]0;title\\007\\033[2Kend\\n'; printf '10%%\\r100%%\\n'; touch colours.txt`);
  await allow(page);
  await rested(page);
  const call = page.locator('.row.tools .call');
  await call.locator('summary').click();
  const output = call.locator('.call-output');
  await output.waitFor();
  assert.equal(await output.textContent(), 'red <b>plain</b> end\n100%');
  assert.equal(await output.locator('.ansi-red').textContent(), 'red');
  assert.equal(await output.locator('b').count(), 0);
  // Of a long output the last lines are shown, and the others when somebody asks.
  await say(page, 'run seq 1 100; touch counted.txt');
  await allow(page);
  await until('it ran', () => world.has('counted.txt'));
  await until('the turn is over', () => page.locator('.composer .send').isVisible());
  const second = page.locator('.row.tools').last().locator('.call');
  await second.locator('summary').click();
  const lines = async () => (await second.locator('.call-output').textContent()).trim().split('\n');
  assert.deepEqual([(await lines()).at(0), (await lines()).at(-1)], ['71', '100']);
  await second.getByRole('button', { name: '70 earlier lines' }).click();
  assert.deepEqual([(await lines()).at(0), (await lines()).at(-1)], ['1', '100']);
  // A colour that begins before what is shown, or never ends, does no harm.
  await say(page, '/cost');
  const cost = page.locator('.rows .row.said').last();
  await cost.getByText('Total cost').waitFor();
  assert.ok((await cost.innerText()).trim().split('\n').length >= 3, await cost.innerText());
}

export async function a_write_without_a_change_says_so(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'write the same', 'acceptEdits');
  await rested(page);
  const head = page.locator('.row.tools .diff-head');
  await head.getByText('No change').waitFor();
  assert.equal(await page.getByText('+0').count(), 0);
}

export async function sheets_close_when_the_page_below_changes(world) {
  await world.serve(SCRIPT);
  const page = await world.page({ phone: true });
  await world.start(page, 'hello');
  await rested(page);
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('dialog', { name: 'Session' }).waitFor();
  await page.goBack();
  await page.locator('.card').waitFor();
  assert.equal(await page.locator('dialog[open]').count(), 0);
  // Back in the list, the focus is on the session that was left.
  assert.equal(await page.evaluate(() => document.activeElement.className), 'card-link');
}

export async function live_ends_soon_after_the_network(world) {
  await world.serve({ ...SCRIPT, gate: true });
  const page = await world.page();
  const chip = page.locator('.list-head .sync');
  await page.mouse.click(400, 300);
  await new Promise((resolve) => { setTimeout(resolve, 2500); });
  assert.equal(await chip.textContent(), 'Live');
  for (const round of [1, 2]) {
    const since = Date.now();
    world.gate.freeze();
    await page.locator('.list-head .sync.away').waitFor({ timeout: PATIENCE });
    const took = Date.now() - since;
    assert.ok(took < 4_000, `round ${round}: it was live for ${took} ms without a network`);
    // A pause is no break: the same connection goes on.
    world.gate.freeze(false);
    await page.locator('.list-head .sync.live').waitFor();
  }
  // A page that only lies there asks seldom.
  const asked = await page.evaluate(async () => {
    let count = 0;
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (text) {
      if (JSON.parse(text).type === 'ping') count += 1;
      return send.call(this, text);
    };
    const now = Date.now;
    Date.now = () => now() + 120_000;
    await new Promise((resolve) => { setTimeout(resolve, 6_500); });
    return count;
  });
  assert.ok(asked <= 2, `${asked} questions in 6.5 s`);
}

export async function a_bridge_that_nobody_reaches_offers_no_link(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Pair another device' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Everything/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Pair another device' });
  await dialog.getByText('Other devices cannot reach this bridge').waitFor();
  const told = await dialog.textContent();
  assert.doesNotMatch(told, /127\.0\.0\.1|localhost|#pair=/);
  assert.match(told, /--public-url/);
}

export async function the_context_is_not_guessed(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await world.start(page, 'a never ending story');
  await page.locator('.streaming').getByText('on and on').waitFor();
  assert.equal(await page.locator('.status-line .meter').count(), 0);
  // The window is known from the end of a turn.
  await world.start(page, 'hello');
  await rested(page);
  await page.locator('.status-line .meter').waitFor();
  const percent = await page.evaluate(async () => {
    const { fold } = await import(document.querySelector('link[href$="js/log/transcript.js"]').href);
    const message = { content: [], usage: { input_tokens: 100_000 } };
    const said = { type: 'assistant', seq: 1, at: 1, sessionId: 's', message };
    const ended = { type: 'result', seq: 2, at: 2, sessionId: 's', subtype: 'success', contextWindow: 1_000_000 };
    const changed = { type: 'model_changed', seq: 3, at: 3, sessionId: 's', by: 'x', model: 'other' };
    return [[said], [said, ended], [said, ended, changed]].map((events) => fold(events).contextPercent ?? null);
  });
  assert.deepEqual(percent, [null, 10, null]);
}

export async function every_screen_has_one_main_and_its_headings_in_order(world) {
  await world.serve({ ...SCRIPT, gate: true });
  for (const how of [{ phone: true }, { dark: true }]) {
    const page = await world.page(how);
    const inspect = async (what) => {
      await page.evaluate(() => Promise.all(document.getAnimations().filter((animation) => animation.effect?.getTiming().iterations !== Infinity).map((animation) => animation.finished.catch(() => {}))));
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
      const shown = violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`).join('\n')}`);
      assert.deepEqual(shown, [], `${what}, ${JSON.stringify(how)}`);
      assert.equal(await page.locator('main:visible').count(), 1, what);
      assert.ok(await page.locator('h1:visible').count() >= 1, what);
    };
    await inspect('the list');
    await page.getByRole('button', { name: 'New session' }).first().click();
    await inspect('a new session');
    await page.keyboard.press('Escape');
    await world.start(page, 'wide table');
    await rested(page);
    await inspect('a table');
    await say(page, 'run seq 1 100; touch a.txt');
    await allow(page);
    await until('the turn is over', () => page.locator('.composer .send').isVisible());
    await page.locator('.row.tools .call > summary').last().click();
    await inspect('an output');
    await say(page, 'one question');
    await card(page).waitFor();
    await say(page, 'later');
    await page.locator('.queue-when').waitFor();
    await inspect('a question and a queue');
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('/');
    await page.getByRole('listbox', { name: 'Commands' }).waitFor();
    await inspect('commands');
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('');
    await page.evaluate(() => { location.hash = location.hash.replace('/s/', '/replay/'); });
    await page.getByRole('slider').waitFor();
    await inspect('a replay');
    await page.evaluate(() => { location.hash = '#/settings'; });
    await page.locator('.device').first().waitFor();
    await inspect('settings');
    await page.getByRole('button', { name: 'Pair another device' }).click();
    await inspect('what a device may');
    await page.getByRole('dialog').getByRole('button', { name: /^Everything/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Copy link' }).waitFor();
    await inspect('pairing');
    await page.goBack();
  }
  const stranger = await world.stranger();
  await stranger.goto(world.info.url);
  await stranger.getByText('This browser is not paired yet').waitFor();
  await stranger.evaluate(AXE);
  const { violations } = await stranger.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  assert.deepEqual(violations.map(({ id }) => id), []);
}

export async function the_focus_is_kept_and_the_list_can_be_skipped(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  const focus = () => page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent);
  await world.start(page, 'hello');
  await rested(page);
  await page.reload();
  await said(page, 'You said: hello');
  await until('the field has the focus', async () => (await focus()) === 'Message');
  await page.evaluate(() => { location.hash = '#/settings'; });
  await page.locator('.device').first().waitFor();
  await page.reload();
  await page.locator('.device').first().waitFor();
  await until('the heading has the focus', async () => (await focus()) === 'Settings');
  // The first stop of the Tab key leads past the list.
  await page.evaluate(() => { location.hash = '#/'; });
  await page.locator('.card').waitFor();
  await page.locator('.card-link').click();
  await page.locator('.chat').waitFor();
  await page.locator('.skip-link').focus();
  assert.equal(await isSeen(page.locator('.skip-link')), true);
  await page.keyboard.press('Enter');
  await until('it leads to the session', async () => (await focus()) === 'Message');
  assert.match(page.url(), /#\/s\//);
}

export async function words_say_what_is_wrong(world) {
  await world.serve(SCRIPT);
  const page = await world.page();
  await page.getByText('No sessions yet.').waitFor();
  await world.start(page, 'hello');
  await rested(page);
  await page.locator('.composer input[type=file]').setInputFiles({ name: 'mk.py', mimeType: 'text/x-python', buffer: Buffer.from('print()') });
  await page.locator('.toast').getByText('mk.py is not an image.').waitFor();
}
