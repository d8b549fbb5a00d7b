/** Long sessions, bad networks, several pages, small screens. */
import assert from 'node:assert/strict';
import { putAside, rested, said, say, until } from './world.mjs';

export async function queue(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'a never ending story');
  await page.locator('.streaming').getByText('on and on').waitFor();
  await say(page, 'first in line');
  await say(page, 'second in line');
  const waiting = page.getByRole('list', { name: 'Waiting messages' }).getByRole('listitem');
  await until('two wait', async () => (await waiting.count()) === 2);
  await waiting.first().getByRole('button', { name: 'Edit message' }).click();
  await page.getByRole('textbox', { name: 'Waiting message' }).fill('first, but other words');
  // What happens to others meanwhile takes nothing away from what is being typed.
  await say(page, 'third in line');
  await until('three wait', async () => (await waiting.count()) === 3);
  await waiting.nth(2).getByRole('button', { name: 'Cancel message' }).click();
  await until('two wait again', async () => (await waiting.count()) === 2);
  await page.getByRole('button', { name: 'Save' }).click();
  await waiting.getByText('first, but other words').waitFor();
  await waiting.nth(1).getByRole('button', { name: 'Cancel message' }).click();
  await until('one waits', async () => (await waiting.count()) === 1);
  // What waits is sent when the turn ends, unless somebody stops it.
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('enough');
  await page.getByRole('radio', { name: 'Interrupt' }).check();
  await page.getByRole('button', { name: 'Send' }).click();
  await said(page, /You said: [^]*first, but other words/);
  // The card in the list is told a moment later.
  await until('what was cancelled is nowhere', async () => (await page.getByText('second in line').count()) === 0);
  assert.equal(await page.locator('.row.user').count(), 3);
}

export async function interrupting_with_words(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'a never ending story');
  await page.locator('.streaming').getByText('on and on').waitFor();
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('enough of that');
  await page.getByRole('radio', { name: 'Interrupt' }).check();
  await page.getByRole('button', { name: 'Send' }).click();
  await said(page, /You said: [^]*enough of that/);
  await rested(page);
  // That was once: what is said next waits again, unless somebody says otherwise.
  await say(page, 'a never ending story');
  await page.locator('.streaming').getByText('on and on').waitFor();
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('no hurry');
  assert.equal(await page.getByRole('radio', { name: 'Queue' }).isChecked(), true);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('list', { name: 'Waiting messages' }).getByText('no hurry').waitFor();
}

export async function offline_and_back(world) {
  await world.serve({ gate: true });
  const [away, home] = [await world.page({ name: 'Away' }), await world.page({ name: 'Home' })];
  const session = await world.start(home, 'number 1');
  await said(home, 'You said: number 1');
  await world.join(away, session);
  await said(away, 'You said: number 1');
  await away.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  const blackout = async () => {
    // The page itself tells when each of the two was seen first.
    await home.evaluate(() => {
      window.since = {};
      new MutationObserver(() => {
        for (const sign of ['.list-head .sync.away', '.banner:not([hidden])']) {
          if (document.querySelector(sign) !== null) window.since[sign] ??= performance.now();
        }
      }).observe(document, { subtree: true, childList: true, attributes: true });
    });
    world.gate.shut();
    for (const page of [away, home]) await page.locator('.banner').getByText('No connection').waitFor();
    // Most gaps are short: for three seconds only the chip says so.
    const [chip, banner] = await home.evaluate(() => Object.values(window.since));
    assert.ok(banner - chip > 2_900, `the banner came ${banner - chip} ms after the chip`);
    await until('the chip tells the last sync', async () => /Synced/.test(await home.locator('.list-head .sync').textContent()));
  };
  await blackout();
  // What is said now waits, and is seen to wait.
  await say(away, 'number 2');
  await away.locator('.row.user.sending').getByText('number 2').waitFor();
  await say(home, 'number 3');
  // Even a reload forgets nothing: the worker has the page's files, and the page what it could not send.
  await away.reload();
  await away.locator('.row.user.sending').getByText('number 2').waitFor();
  await away.locator('.banner').getByText('No connection').waitFor();
  world.gate.unshut();
  for (const page of [away, home]) {
    await said(page, 'You said: number 2');
    await said(page, 'You said: number 3');
    await until('the banner is gone', async () => !(await page.locator('.banner').isVisible()));
  }
  for (const page of [away, home]) {
    await until('both turns are over', async () => (await page.locator('.row.turn').count()) === 3);
    for (const number of [1, 2, 3]) {
      assert.equal(await page.locator('.row.user').getByText(`number ${number}`, { exact: true }).count(), 1);
      assert.equal(await page.locator('.row.said').getByText(`You said: number ${number}`).count(), 1);
    }
  }
  const text = (page) => page.locator('.rows').innerText();
  await until('both show the same', async () => (await text(away)) === (await text(home)));
}

export async function a_lost_answer_makes_nothing_twice(world) {
  await world.serve({ gate: true });
  const page = await world.page();
  const cards = page.locator('.card');
  // The bridge does what it is asked, and the page does not hear of it.
  world.gate.swallowNextAnswer();
  const session = await world.start(page, 'remember the heron');
  await said(page, 'You said: remember the heron');
  await rested(page);
  await cards.first().waitFor();
  assert.equal(await cards.count(), 1);
  await putAside(page);
  await page.locator('.recent-row').getByText('heron').click();
  world.gate.swallowNextAnswer();
  await page.getByRole('dialog', { name: 'Resume session' }).getByRole('button', { name: /^Fork/ }).click();
  await page.locator(`.chat[data-session]:not([data-session="${session}"])`).waitFor();
  await say(page, 'here again');
  await said(page, 'You said: here again');
  await cards.first().waitFor();
  assert.equal(await cards.count(), 1);
}

export async function the_first_visit_is_enough(world) {
  await world.serve({ gate: true });
  const page = await world.page();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  world.gate.shut();
  // The network is gone, and the page is still there, with all that it consists of.
  await page.reload();
  await page.locator('.list-pane').waitFor();
  await page.locator('.banner').getByText('No connection').waitFor();
  assert.equal(await page.evaluate(() => document.styleSheets.length > 0 && getComputedStyle(document.querySelector('.list-head')).display), 'flex');
  world.gate.unshut();
  await page.getByText('No sessions yet.').waitFor();
}

export async function a_phone_tells_the_last_sync(world) {
  await world.serve({ gate: true });
  const page = await world.page({ phone: true });
  await world.start(page, 'hello');
  await page.locator('.row.turn').waitFor();
  // In a session there is room for it only when there is something to tell.
  const chip = page.locator('.chat-head .sync');
  assert.equal(await chip.isVisible(), false);
  world.gate.shut();
  await chip.getByText('Synced').waitFor();
  world.gate.unshut();
  await until('all is well', async () => !(await chip.isVisible()));
}

export async function a_message_that_is_too_large(world) {
  await world.serve();
  const page = await world.page();
  let sockets = 0;
  page.on('websocket', () => { sockets += 1; });
  await page.reload();
  await world.start(page, 'hello');
  await page.locator('.row.turn').waitFor();
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.focus();
  // Pictures of nothing but noise, as no others are large when they have been made small.
  await page.evaluate(async () => {
    const data = new DataTransfer();
    for (let picture = 0; picture < 3; picture += 1) {
      const canvas = new OffscreenCanvas(900, 900);
      const context = canvas.getContext('2d');
      const noise = context.createImageData(900, 900);
      for (let at = 0; at < noise.data.length; at += 65_536) crypto.getRandomValues(noise.data.subarray(at, at + 65_536));
      for (let at = 3; at < noise.data.length; at += 4) noise.data[at] = 255;
      context.putImageData(noise, 0, 0);
      data.items.add(new File([await canvas.convertToBlob()], `noise-${picture}.png`, { type: 'image/png' }));
    }
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.getByRole('img', { name: 'Picture 3' }).waitFor();
  await field.fill('three of them');
  // It is said for a few seconds only: whoever wants to see it looks from the beginning.
  await Promise.all([
    page.locator('.toast').getByText('Too large for one message').waitFor(),
    page.getByRole('button', { name: 'Send' }).click(),
  ]);
  // Nothing is lost, nothing was sent, and the connection has not noticed.
  assert.equal(await field.inputValue(), 'three of them');
  assert.equal(await page.locator('.thumb').count(), 3);
  await page.getByRole('button', { name: 'Remove picture 3' }).click();
  await field.fill('two of them');
  await page.getByRole('button', { name: 'Send' }).click();
  const sent = page.locator('.rows .row.user').nth(1);
  await sent.getByText('two of them').waitFor();
  assert.equal(await sent.getByRole('img', { name: 'Attached picture' }).count(), 2);
  assert.equal(sockets, 1);
  // The first words of a session are no different.
  await page.getByRole('button', { name: 'New session' }).first().click();
  await page.getByLabel('First message').evaluate((area) => {
    // Nobody has to lay out nine million letters for that.
    area.hidden = true;
    area.value = 'letters '.repeat(1_200_000);
  });
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('Too large for one message').waitFor();
  assert.equal(sockets, 1);
}

export async function five_thousand_messages(world) {
  await world.serve({ script: 'many.json' });
  const page = await world.page();
  const session = await world.start(page, 'begin');
  await page.locator('.row.turn').waitFor();
  // The page itself tells when the newest message is on the screen, counted from when it was asked for.
  await page.addInitScript(() => {
    window.opened = new Promise((resolve) => {
      const look = () => {
        const last = [...document.querySelectorAll('.rows .row.said')].at(-1);
        if (last?.textContent.includes('The last message of all.') && last.getBoundingClientRect().height > 0) {
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
        } else requestAnimationFrame(look);
      };
      look();
    });
  });
  const times = [];
  for (let round = 0; round < 5; round += 1) {
    await page.goto('about:blank');
    await page.goto(`${world.info.url}/#/s/${session}`);
    times.push(Math.round(await page.evaluate(() => window.opened)));
  }
  const median = [...times].sort((a, b) => a - b)[2];
  console.log(`       5000 messages: on the screen after ${times.join(', ')} ms, median ${median}`);
  assert.ok(median < 1000, `${times.join(', ')} ms`);
  const rows = () => page.locator('.rows .row').count();
  const shown = await rows();
  assert.ok(shown < 150, `${shown} rows are in the page`);
  // All of it can be reached, with never more than a few screens in the page.
  const oldest = () => page.evaluate(() => {
    const numbers = [...document.querySelectorAll('.rows .row.said')].map((row) => Number(/number (\d+)/.exec(row.textContent)?.[1] ?? NaN));
    return Math.min(...numbers.filter((number) => !Number.isNaN(number)));
  });
  let before = await oldest();
  for (let step = 0; step < 6; step += 1) {
    await page.locator('.chat-log').evaluate((log) => { log.scrollTop = 0; });
    await until('older messages come', async () => (await oldest()) < before);
    before = await oldest();
    assert.ok((await rows()) < 200, `${await rows()} rows are in the page`);
  }
  await page.getByRole('button', { name: 'Go to the newest message' }).click();
  await page.getByText('The last message of all.').last().waitFor();
  // It can be replayed as a whole, also when there is no connection yet as the replay is opened.
  await page.goto('about:blank');
  await page.goto(`${world.info.url}/#/replay/${session}`);
  const slider = page.getByRole('slider', { name: 'Position in the session' });
  await until('all is there', async () => Number(await slider.inputValue()) > 5000);
  assert.equal(await slider.inputValue(), await slider.getAttribute('max'));
}

export async function following_the_end(world) {
  await world.serve();
  const page = await world.page();
  await world.start(page, 'hello');
  await page.locator('.row.turn').waitFor();
  for (let turn = 2; turn <= 10; turn += 1) {
    await say(page, `line ${turn}`);
    await said(page, `You said: line ${turn}`);
    await rested(page);
  }
  const log = page.locator('.chat-log');
  const fromEnd = () => log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  await until('the end is followed', async () => (await fromEnd()) < 2);
  // However little somebody goes up: the end lets go of them.
  await log.evaluate((element) => { element.scrollTop -= 12; });
  await page.getByRole('button', { name: 'Go to the newest message' }).click();
  await until('the end is followed once more', async () => (await fromEnd()) < 2);
  await log.hover();
  await page.mouse.wheel(0, -300);
  await page.getByRole('button', { name: 'Go to the newest message' }).waitFor();
  const where = await log.evaluate((element) => element.scrollTop);
  await say(page, 'one more');
  await page.getByRole('button', { name: 'Go to the newest message' }).waitFor({ state: 'hidden' });
  await said(page, 'You said: one more');
  await until('the end is followed again', async () => (await fromEnd()) < 2 && (await log.evaluate((element) => element.scrollTop)) > where);
}

export async function a_phone(world) {
  await world.serve();
  const page = await world.page({ phone: true });
  const fits = async (what) => {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 360, `${what} is ${wide} pixels wide`);
    // What is wider than the screen can be scrolled by itself, as code can; it is not cut off.
    const cut = await page.evaluate(() => {
      const scrolls = (/** @type {Element} */ element) => {
        for (let box = element.parentElement; box !== null && !box.matches('.chat-log, .list-scroll, .sheet, body'); box = box.parentElement) {
          if (getComputedStyle(box).overflowX !== 'visible' && box.getBoundingClientRect().right <= innerWidth + 1) return true;
        }
        return false;
      };
      return [...document.querySelectorAll('body *')]
        .filter((element) => element.checkVisibility() && !element.classList.contains('unseen') && element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element))
        .map((element) => element.outerHTML.slice(0, 120));
    });
    assert.deepEqual(cut, [], what);
  };
  const targets = async (what, place) => {
    const small = await page.locator(place).evaluate((root) =>
      [...root.querySelectorAll('button, a.icon-button, .option, .rule, select, summary')]
        .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 43.5)
        .map((element) => element.outerHTML.slice(0, 120)));
    assert.deepEqual(small, [], what);
  };
  await fits('the list');
  await targets('the list', '.list-pane');
  await page.getByRole('button', { name: 'New session' }).first().tap();
  await fits('a new session');
  await targets('a new session', 'dialog');
  await page.getByRole('button', { name: 'Cancel' }).tap();
  await world.start(page, 'run touch a-file-with-a-very-long-name-that-fits-no-phone-at-all-and-goes-on-and-on-and-on.txt');
  await page.getByRole('button', { name: 'Allow once' }).waitFor();
  await fits('an approval');
  await targets('an approval', '.chat');
  assert.equal(await page.locator('.list-pane').isVisible(), false);
  // What is asked about and both answers are seen at once, also with the rules before them.
  await page.getByRole('button', { name: 'Always…' }).tap();
  await targets('rules', '.approval');
  const inside = await page.locator('.approval').evaluate((card) => {
    const frame = card.getBoundingClientRect();
    const parts = [...card.querySelectorAll('.preview, .approval-buttons .button')].map((part) => part.getBoundingClientRect());
    return parts.length === 3 && parts.every(({ top, height }) => top >= frame.top && top + Math.min(height, 44) <= frame.bottom + 1);
  });
  assert.equal(inside, true);
  await page.getByRole('button', { name: 'Back' }).tap();
  await page.getByRole('button', { name: 'Allow once' }).tap();
  await page.locator('.row.turn').waitFor();
  await fits('the chat');
  for (const name of [/^Mode:/, /^Model:/, 'Session menu']) {
    await page.getByRole('button', { name }).tap();
    await fits(String(name));
    await targets(String(name), 'dialog');
    await page.getByRole('button', { name: 'Close' }).tap();
  }
  await say(page, 'run false || ls a-name-that-is-far-too-long-for-any-phone-and-not-there-at-all');
  await page.locator('.call.bad > summary').tap();
  await fits('what a call did');
  await say(page, 'look around');
  await page.locator('.run > summary').tap();
  await page.locator('.run .call > summary').first().tap();
  await fits('a run of calls');
  await targets('a run of calls', '.chat-log');
  await say(page, 'markdown');
  await page.locator('.prose table').waitFor();
  await fits('markdown');
  await until('the turn is over', async () => page.locator('.composer .send').isVisible());
  await say(page, 'two questions');
  await page.getByRole('button', { name: 'Answer' }).waitFor();
  await fits('questions');
  await targets('questions', '.approval');
  await page.getByRole('button', { name: 'Skip' }).tap();
  await until('the turn is over', async () => page.locator('.composer .send').isVisible());
  await page.getByRole('link', { name: 'All sessions' }).tap();
  await page.locator('.list-pane').waitFor();
  await fits('the list with a session');
  await page.getByRole('link', { name: 'Settings' }).tap();
  await page.getByRole('heading', { name: 'Devices' }).waitFor();
  await fits('settings');
  await targets('settings', '.settings');
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).colorScheme), 'dark');
  await page.reload();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
}

export async function a_phone_with_its_keyboard(world) {
  await world.serve();
  const page = await world.page({ phone: true });
  const seen = (what, height) => page.locator(what).evaluateAll((all, height) => all.filter((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= height + 0.5;
  }).length, height);
  await world.start(page, 'run touch typed.txt');
  await page.getByRole('button', { name: 'Deny…' }).tap();
  await page.getByRole('textbox', { name: 'Reason for the model' }).focus();
  // Most phones make the page smaller: the command, the reason and the answers are still there.
  await page.setViewportSize({ width: 360, height: 400 });
  await until('all of it is seen', async () => (await seen('.approval .preview, .approval textarea, .approval .button', 400)) === 5);
  await page.getByRole('button', { name: 'Deny', exact: true }).tap();
  await page.locator('.row.turn').waitFor();
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('one\ntwo\nthree');
  await until('what is typed is seen', async () => (await seen('.composer-field, .send', 400)) === 2);
  await page.setViewportSize({ width: 360, height: 740 });
  // Others lay it over the page: then the page makes room itself, and takes it back.
  const lay = (height) => page.evaluate((height) => {
    Object.defineProperty(visualViewport, 'height', { value: height, configurable: true });
    visualViewport.dispatchEvent(new Event('resize'));
  }, height);
  await lay(420);
  await until('the composer is above the keyboard', async () => (await seen('.composer', 420)) === 1);
  await lay(740);
  await until('the page is whole again', async () => (await page.locator('#app').boundingBox()).height === 740);
}

export async function ending_resuming_replaying(world) {
  await world.serve();
  const page = await world.page();
  const session = await world.start(page, 'hello');
  await said(page, 'You said: hello');
  await say(page, 'run touch replayed.txt');
  await page.getByRole('button', { name: 'Allow once' }).click();
  await page.locator('.row.turn').nth(1).waitFor();
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('button', { name: /^End session/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
  await page.getByText('This session has ended.').waitFor();
  await page.getByRole('link', { name: 'Replay' }).click();
  const slider = page.getByRole('slider', { name: 'Position in the session' });
  await until('all is there', async () => Number(await slider.getAttribute('max')) > 5 && (await slider.inputValue()) === (await slider.getAttribute('max')));
  await page.locator('.row.resolved').waitFor();
  // Back to where the first words were said, wherever in the log that is.
  await slider.fill('0');
  await until('nothing has happened yet', async () => (await page.locator('.rows .row').count()) === 0);
  await slider.focus();
  await until('the first words are said', async () => {
    await slider.press('ArrowRight');
    return page.locator('.row.user').getByText('hello').isVisible();
  });
  assert.equal(await page.locator('.row.resolved').count(), 0);
  await page.getByRole('button', { name: 'Play' }).click();
  await page.locator('.row.resolved').waitFor();
  await page.getByRole('link', { name: 'Back to the session' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
  await say(page, 'back again');
  await said(page, 'You said: back again');
  assert.ok(page.url().includes(session) || (await page.locator('.row.user').count()) > 0);
}

export async function mode_model_title(world) {
  await world.serve();
  const page = await world.page();
  const session = await world.start(page, 'hello');
  await page.locator('.row.turn').waitFor();
  await page.getByRole('button', { name: /^Mode:/ }).click();
  await page.getByRole('dialog', { name: 'Mode' }).getByRole('button', { name: /^Accept edits/ }).click();
  await page.getByRole('button', { name: 'Mode: Accept edits. Change' }).waitFor();
  await page.locator('.row.note').getByText('Mode: Accept edits · Laptop').waitFor();
  await page.getByRole('button', { name: /^Model:/ }).click();
  await page.getByRole('dialog', { name: 'Model' }).getByRole('button', { name: /^Haiku/ }).click();
  await page.locator('.row.note').getByText(/^Model: .*Laptop/).waitFor();
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('button', { name: /^Rename/ }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill('The maiden voyage');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { name: 'The maiden voyage' }).waitFor();
  await page.locator(`.card[data-session="${session}"]`).getByText('The maiden voyage').waitFor();
}

export async function devices(world) {
  await world.serve({ gate: true });
  const page = await world.page({ name: 'Owner' });
  const guest = await world.page({ name: 'Guest' });
  await page.getByRole('link', { name: 'Settings' }).click();
  // Another device may do less: one that may only look has nothing to press.
  await page.getByRole('button', { name: 'Pair another device' }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^View only/ }).click();
  const link = await page.getByRole('dialog').locator('pre').textContent();
  assert.match(link, /#pair=/);
  await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  const watcher = await world.stranger();
  await watcher.goto(link);
  await watcher.getByLabel('Name of this device').fill('Watcher');
  await watcher.getByRole('button', { name: 'Pair this browser' }).click();
  await watcher.locator('.list-head .sync.live').waitFor({ state: 'attached' });
  const session = await world.start(guest, 'run touch watched.txt');
  await world.join(watcher, session);
  await watcher.getByText('This device may look, but not decide.').waitFor();
  assert.equal(await watcher.getByRole('button', { name: 'New session' }).count(), 0);
  assert.equal(await watcher.getByRole('button', { name: 'Allow once' }).isDisabled(), true);
  assert.equal(await watcher.getByRole('textbox', { name: 'Message', exact: true }).isVisible(), false);
  await page.getByRole('button', { name: 'Revoke Guest' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  // The guest is out at once, and stays out.
  await guest.getByText('This device was revoked').waitFor();
  await guest.reload();
  await guest.getByText('This device was revoked').waitFor();
  await until('it is off the list', async () => (await page.getByRole('button', { name: 'Revoke Guest' }).count()) === 0);
}

export async function a_bridge_that_is_started_again(world) {
  await world.serve({ gate: true });
  const page = await world.page();
  const session = await world.start(page, 'run touch later.txt');
  await page.getByRole('button', { name: 'Allow once' }).waitFor();
  await say(page, 'what waited');
  await page.getByRole('list', { name: 'Waiting messages' }).getByText('what waited').waitFor();
  // Shut down as it should be: the next one goes on by itself, and does not repeat what was cut off.
  await world.restart('SIGTERM');
  await page.locator('.row.user').getByText('what waited').waitFor();
  await page.locator('.row.turn').nth(1).waitFor();
  await page.locator(`.card[data-session="${session}"] .light.ready`).waitFor();
  assert.equal(world.has('later.txt'), false);
  assert.match(await page.locator('.row.resolved').textContent(), /shut down/);
  await page.locator('.row.note').getByText('Running: resumed · the bridge').waitFor();
  // Killed: the session waits to be resumed, from its card.
  await say(page, 'run touch much-later.txt');
  await page.getByRole('button', { name: 'Allow once' }).waitFor();
  await world.restart('SIGKILL');
  await page.getByRole('heading', { name: 'Interrupted' }).waitFor();
  await page.getByText('This session was interrupted.').waitFor();
  await page.locator(`.card[data-session="${session}"]`).getByRole('button', { name: 'Resume' }).click();
  await page.locator(`.card[data-session="${session}"] .light.ready`).waitFor();
  await say(page, 'and once more');
  await page.locator('.row.turn').nth(2).waitFor();
  assert.equal(world.has('much-later.txt'), false);
}
