/** The page over the real CLI, which talks to a scripted model on loopback. */
import assert from 'node:assert/strict';
import { said, say, until } from './world.mjs';

const card = (page) => page.getByRole('region', { name: /^Approval:/ });

export async function the_real_cli(world) {
  const question = { question: 'Which way?', header: 'Course', multiSelect: false, options: [{ label: 'Port', description: 'Left' }, { label: 'Starboard', description: 'Right' }] };
  await world.serveReal([
    { text: 'Ahoy from the **real** one.' },
    { tool: 'Bash', input: { command: 'touch yes.txt', description: 'Make a file' } },
    { text: 'The file is there.' },
    { tool: 'Write', input: { file_path: `${world.project}/chart.txt`, content: 'one\ntwo\n' } },
    { text: 'I leave it, then.' },
    { tool: 'AskUserQuestion', input: { questions: [question] } },
    { text: 'Aye.' },
  ]);
  const page = await world.page();
  await world.start(page, 'hello');
  await page.locator('.row.turn').waitFor();
  assert.equal(await page.locator('.rows .row.said strong').textContent(), 'real');
  // A command, with the CLI's own suggestions.
  await say(page, 'make a file');
  await card(page).getByText('touch yes.txt', { exact: true }).waitFor();
  await card(page).getByRole('button', { name: 'Always…' }).click();
  assert.match(await card(page).locator('.rule code').first().textContent(), /touch/);
  await card(page).getByRole('button', { name: 'Allow and remember' }).click();
  await said(page, 'The file is there.');
  assert.equal(world.has('yes.txt'), true);
  // A change, refused with a reason that reaches the model.
  await say(page, 'write the chart');
  await until('the change is shown', async () => (await card(page).locator('.diff-line.added').count()) === 2);
  await card(page).getByRole('button', { name: 'Deny…' }).click();
  await page.getByRole('textbox', { name: 'Reason for the model' }).fill('the ink is wet');
  await card(page).getByRole('button', { name: 'Deny', exact: true }).click();
  await said(page, 'I leave it, then.');
  assert.equal(world.has('chart.txt'), false);
  // A question.
  await say(page, 'ask me');
  await card(page).getByLabel('Starboard').check();
  await card(page).getByRole('button', { name: 'Answer' }).click();
  await said(page, 'Aye.');
  await until('four turns are over', async () => (await page.locator('.row.turn').count()) === 4);
  const told = JSON.stringify(await world.modelCalls());
  assert.match(told, /the ink is wet/);
  assert.match(told, /Starboard/);
  // All of it is there after a reload, once.
  await page.reload();
  await said(page, 'Aye.');
  assert.equal(await page.locator('.row.user').count(), 4);
  assert.equal(await page.locator('.row.resolved').count(), 3);
}
