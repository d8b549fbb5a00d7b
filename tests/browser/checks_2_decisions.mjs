/** What somebody has to decide: from the chat, from the list, once, always, with words. */
import assert from 'node:assert/strict';
import { armed, readOn, rested, said, say, until } from './world.mjs';

const card = (page) => page.getByRole('region', { name: /^Approval:/ });

export async function approve_from_the_chat(world) {
  await world.serve();
  const page = await world.page({ name: 'The bridge' });
  await world.start(page, 'run touch yes.txt');
  await card(page).getByText('touch yes.txt', { exact: true }).waitFor();
  assert.equal(world.has('yes.txt'), false);
  await card(page).getByRole('button', { name: 'Allow once' }).click();
  const line = page.locator('.row.resolved');
  await line.waitFor();
  assert.match(await line.textContent(), /Allowed Bash.*touch yes\.txt.*· The bridge/);
  await said(page, 'Done with Bash');
  assert.equal(world.has('yes.txt'), true);
  assert.equal(await card(page).count(), 0);
}

export async function approve_from_the_list(world) {
  await world.serve();
  const page = await world.page({ name: 'Laptop' });
  const phone = await world.page({ name: 'Phone', phone: true });
  const session = await world.start(page, 'run touch from-the-list.txt');
  const listed = phone.locator(`.card[data-session="${session}"]`);
  await phone.getByRole('heading', { name: 'Needs you' }).waitFor();
  await listed.getByText('touch from-the-list.txt', { exact: true }).waitFor();
  assert.match(await phone.title(), /^\(1\)/);
  await listed.getByRole('button', { name: 'Allow' }).click();
  await until('the command ran', () => world.has('from-the-list.txt'));
  assert.match(await page.locator('.row.resolved').textContent(), /Allowed.*· Phone/);
  await listed.locator('.light.ready').waitFor();
  // A question with few answers is answered there, too.
  await say(page, 'one question');
  await listed.getByRole('button', { name: 'Starboard' }).click();
  await page.locator('.row.resolved').getByText('Starboard').waitFor();
}

export async function deny_with_a_reason(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'run touch no.txt');
  await card(page).getByRole('button', { name: 'Deny…' }).click();
  await page.getByRole('textbox', { name: 'Reason for the model' }).fill('not before the tide turns');
  await card(page).getByRole('button', { name: 'Deny', exact: true }).click();
  await said(page, /You said no: .*not before the tide turns/);
  assert.match(await page.locator('.row.resolved').textContent(), /Denied Bash.*“not before the tide turns”.*· Laptop/);
  assert.equal(world.has('no.txt'), false);
}

export async function always_shows_the_rule(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'run touch always.txt');
  // What "this session" would let run is seen without a pointer, too.
  assert.match(await card(page).locator('.session-rule').textContent(), /^This session: allow Bash\(.*touch/);
  await card(page).getByRole('button', { name: 'Always…' }).click();
  const rule = card(page).locator('.rule').first();
  const shown = await rule.locator('code').first().textContent();
  assert.match(shown, /^allow Bash\(.*touch/);
  assert.match(await rule.textContent(), /settings|session/);
  await card(page).getByRole('button', { name: 'Allow and remember' }).click();
  const line = page.locator('.row.resolved');
  await line.waitFor();
  assert.match(await line.textContent(), /Always allowed/);
  assert.ok((await line.locator('.resolved-rules').textContent()).includes(shown.replace(/^allow /, '')), await line.textContent());
  // And the file that it is in from now on.
  assert.match(await line.locator('.resolved-rules').textContent(), / in \.claude\/settings\.local\.json$/);
  await said(page, 'Done with Bash');
  // The same again asks nobody.
  await say(page, 'run touch always.txt');
  await until('it ran again', async () => (await page.locator('.row.turn').count()) === 2);
  assert.equal(await page.locator('.row.resolved').count(), 1);
}

export async function for_this_session(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'run touch once.txt');
  await card(page).getByRole('button', { name: 'This session' }).click();
  await page.locator('.row.resolved').getByText('in session').waitFor();
  await said(page, 'Done with Bash');
  await say(page, 'run touch once.txt');
  await until('it ran again', async () => (await page.locator('.row.turn').count()) === 2);
  assert.equal(await page.locator('.row.resolved').count(), 1);
}

export async function several_at_once(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'two at once');
  await page.getByText('2 waiting').waitFor();
  const tabs = page.getByRole('group', { name: '2 approvals are waiting' });
  await tabs.getByRole('button', { name: /passwd/ }).click();
  await card(page).getByText('/etc/passwd').first().waitFor();
  await card(page).getByRole('button', { name: 'Deny…' }).click();
  await card(page).getByRole('button', { name: 'Deny', exact: true }).click();
  await page.locator('.row.resolved').getByText('/etc/passwd').waitFor();
  // The other one still waits.
  await card(page).getByText('/etc/hostname').first().waitFor();
  await card(page).getByRole('button', { name: 'Allow once' }).click();
  await page.locator('.row.turn').waitFor();
  assert.deepEqual(await page.locator('.row.resolved strong').allTextContents(), ['Denied', 'Allowed']);
}

export async function one_question(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'one question');
  const answer = card(page).getByRole('button', { name: 'Answer' });
  await answer.waitFor();
  assert.equal(await answer.isDisabled(), true);
  await card(page).getByLabel('Starboard').check();
  await card(page).getByText('STARBOARD -->').waitFor();
  await card(page).getByLabel('Port').check();
  await card(page).getByText('<-- PORT').waitFor();
  await answer.click();
  await said(page, /Done with AskUserQuestion: .*Port/);
  assert.match(await page.locator('.row.resolved').textContent(), /Answered.*Port.*· Laptop/);
}

export async function several_questions(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'two questions');
  await card(page).getByLabel('Alpha').check();
  await card(page).getByLabel('Charlie').check();
  await card(page).getByLabel('Other answer to: Which speed?').fill('Dead slow');
  await card(page).getByRole('button', { name: 'Answer' }).click();
  await said(page, /Alpha, Charlie/);
  await said(page, /Dead slow/);
}

export async function a_plan(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'make a plan', 'plan');
  await card(page).getByText('Weigh the').waitFor();
  await card(page).getByRole('textbox', { name: 'Feedback on the plan' }).fill('mind the rocks');
  await card(page).getByRole('button', { name: 'Keep planning' }).click();
  await said(page, /You said no: .*mind the rocks/);
  await say(page, 'make a plan');
  await card(page).getByRole('button', { name: 'Accept plan' }).click();
  await until('the plan was accepted', async () => /Allowed plan/.test(await page.locator('.row.resolved').last().textContent()));
  await page.locator('.row.turn').nth(1).waitFor();
  // It leaves planning, and from then on it asks as before.
  assert.equal(await page.getByRole('button', { name: /^Mode:/ }).textContent(), 'Ask');
}

export async function a_diff(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'write the chart');
  const lines = card(page).locator('.diff-line');
  await lines.first().waitFor();
  assert.equal(await lines.count(), 20);
  assert.equal(await card(page).locator('.diff-line.added').count(), 20);
  await card(page).getByRole('button', { name: '5 more lines' }).click();
  assert.equal(await lines.count(), 25);
  await readOn(card(page));
  await card(page).getByRole('button', { name: 'Allow once' }).click();
  await until('the change is asked about', async () => (await card(page).locator('.diff-line.removed').count()) === 2);
  assert.equal(await card(page).locator('.diff-line.added').count(), 2);
  await card(page).getByText('FOUR', { exact: true }).waitFor();
  // Spaces at the beginning of a line are part of it.
  assert.equal(await card(page).locator('.diff-line.added code').last().textContent(), '  FOUR');
  await card(page).getByRole('button', { name: 'Allow once' }).click();
  await page.locator('.row.turn').waitFor();
  // What was done is shown where it was done.
  const done = page.locator('.row.tools .diff').last();
  await done.getByText('+2').waitFor();
  assert.match(await done.textContent(), /chart\.txt/);
}

export async function allowed_and_nobody_knows_whether_it_ran(world) {
  await world.serve({ gate: true });
  const page = await world.page({ name: 'Helm' });
  const unknown = page.locator('.row.resolved.indeterminate');
  // It begins, and never comes to its end.
  const command = (file) => `touch ${file} && tail -f /dev/null`;
  const allow = async (file) => {
    await card(page).getByRole('button', { name: 'Allow once' }).click();
    await until('it has begun', () => world.has(file));
  };
  await world.start(page, `run ${command('one.txt')}`);
  await allow('one.txt');
  assert.equal(await unknown.count(), 0);
  // The bridge dies, and the CLI with it, while the command runs.
  await world.restart('SIGKILL');
  await unknown.getByText('Outcome unknown: check before you repeat it.').waitFor();
  await page.locator('.call').getByText('outcome unknown').waitFor();
  await page.locator('.row.note.bad').getByText('Bash was allowed by Helm, and nobody knows whether it ran').waitFor();
  // The same when somebody ends the session; and what has a result is not among them.
  await page.getByText('This session was interrupted.').waitFor();
  await page.locator('.gone').getByRole('button', { name: 'Resume' }).click();
  await say(page, 'hello again');
  await rested(page);
  await say(page, 'run touch known.txt');
  await card(page).getByRole('button', { name: 'Allow once' }).click();
  await said(page, 'Done with Bash');
  await say(page, `run ${command('two.txt')}`);
  await allow('two.txt');
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('button', { name: /^End session/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
  await page.getByText('This session has ended.').waitFor();
  await until('both are shown so', async () => (await unknown.count()) === 2);
  await page.reload();
  await until('also after a reload', async () => (await unknown.count()) === 2);
  assert.deepEqual(await unknown.locator('.resolved-text > code').allTextContents(), ['one.txt', 'two.txt'].map(command));
}

export async function two_pages_race(world) {
  await world.serve();
  const left = await world.page({ name: 'Left' });
  const right = await world.page({ name: 'Right' });
  const session = await world.start(left, 'run touch raced.txt');
  await world.join(right, session);
  for (let round = 1; round <= 3; round += 1) {
    await Promise.all([left, right].map((page) => card(page).getByRole('button', { name: 'Allow once' }).waitFor()));
    await card(right).getByRole('button', { name: 'Deny…' }).click();
    await armed(card(right).getByRole('button', { name: 'Deny', exact: true }));
    await armed(card(left).getByRole('button', { name: 'Allow once' }));
    // Whoever is second may find no button any more: then there is nothing to press.
    const press = (page, name) => card(page).getByRole('button', { name, exact: true }).evaluateAll(([button]) => button?.click());
    await Promise.all([press(left, 'Allow once'), press(right, 'Deny')]);
    const line = (page) => page.locator('.row.resolved').nth(round - 1);
    await Promise.all([line(left).waitFor(), line(right).waitFor()]);
    assert.equal(await line(left).textContent(), await line(right).textContent());
    await Promise.all([left, right].map((page) => until('the card is gone', async () => (await card(page).count()) === 0)));
    await left.locator('.row.turn').nth(round - 1).waitFor();
    assert.equal(await left.locator('.row.resolved').count(), round);
    await say(left, 'run touch raced.txt');
  }
}
