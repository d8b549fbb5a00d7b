/** What a check needs: a bridge of its own, browsers that are paired with it, and a gate that can be shut. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Gate } from './gate.mjs';

const require = createRequire(`${process.env.PILOTHOUSE_BROWSER_MODULES}/package.json`);
export const { chromium } = require('playwright-core');
export const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Long enough for a machine that does ten other things; nothing waits for it unless something is broken. */
export const PATIENCE = 45_000;

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
const DESK = { viewport: { width: 1280, height: 800 } };

export class World {
  #browser;
  #contexts = [];
  #children = [];
  #gate = null;
  #served = [];
  #api = '';
  /** What went wrong in pages without a check having asked. */
  complaints = [];

  constructor(browser) {
    this.#browser = browser;
    this.folder = mkdtempSync(join(tmpdir(), 'pilothouse-browser-'));
    this.project = join(this.folder, 'projects', 'harbour');
    mkdirSync(this.project, { recursive: true });
    writeFileSync(join(this.project, 'README.md'), '# Harbour\n');
  }

  /** Starts the bridge: with a script of this folder, or with the demo. */
  async serve({ script = 'talk.toml', path = null, strips = false, gate = false, further = [] } = {}) {
    const args = [...(script === 'demo' ? ['--demo'] : ['--script', resolve(HERE, script)]), ...further];
    if (gate || path !== null) {
      this.#gate = await Gate.open(path ?? '', strips);
      args.push('--public-url', this.#gate.url);
    }
    await this.#serve(args, {});
    // Behind a gate the bridge names the gate's address; the gate has to know the bridge's own.
    this.#gate?.to(this.#ownPort(this.#children.at(-1)));
    return this.info;
  }

  /** Starts the bridge over the real CLI, whose model says these turns. */
  async serveReal(turns) {
    const script = join(this.folder, 'turns.json');
    writeFileSync(script, JSON.stringify(turns));
    this.#api = await this.#run(process.env.PILOTHOUSE_API, [script], {});
    await this.#serve(['--claude', process.env.PILOTHOUSE_REAL_CLI], {
      CLAUDE_CONFIG_DIR: join(this.folder, '.claude'), ANTHROPIC_API_KEY: 'dummy', ANTHROPIC_BASE_URL: this.#api,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1', DISABLE_AUTOUPDATER: '1', IS_SANDBOX: '1',
    });
  }

  /** What the model was asked, oldest first. */
  async modelCalls() {
    const calls = await (await fetch(`${this.#api}/calls`)).json();
    return calls.filter((call) => call.kind === 'main').map((call) => call.body);
  }

  /** Ends the bridge behind the gate, and starts another one on what it has left. */
  async restart(signal) {
    const child = this.#children.at(-1);
    const gone = new Promise((resolve) => { child.once('exit', resolve); });
    child.kill(signal);
    await gone;
    await this.#serve(...this.#served);
    this.#gate.to(this.#ownPort(this.#children.at(-1)));
  }

  async #serve(further, env) {
    this.#served = [further, env];
    const args = ['serve', '--port', '0', '--json', '--state-dir', join(this.folder, 'state'), '--root', join(this.folder, 'projects'), ...further];
    this.info = JSON.parse(await this.#run(process.env.PILOTHOUSE_BIN, args, env));
    this.token = execFileSync(process.env.PILOTHOUSE_BIN, ['serve', 'token', '--state-dir', this.info.state_dir], { encoding: 'utf8' }).trim();
  }

  /** Starts a program and gives the first line that it prints. */
  #run(program, args, env) {
    const clean = { PATH: process.env.PATH, HOME: this.folder, TMPDIR: tmpdir() };
    const child = spawn(program, args, { cwd: this.project, env: { ...clean, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#children.push(child);
    let complaint = '';
    child.stderr.on('data', (data) => { complaint += data; });
    return new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`${program} ended with ${code}: ${complaint}`)));
      child.once('error', reject);
    });
  }

  /** The port that the bridge listens at, as the system tells it. */
  #ownPort({ pid }) {
    const link = (fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    };
    const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(link(fd))?.[1]);
    const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1).map((row) => row.trim().split(/\s+/));
    const listening = rows.find((row) => row[3] === '0A' && sockets.includes(row[9]));
    assert.ok(listening, 'the bridge listens nowhere');
    return Number.parseInt(listening[1].split(':')[1], 16);
  }

  get gate() {
    return this.#gate;
  }

  /** A fresh pairing address. */
  async offer() {
    const url = this.info.url.endsWith('/') ? this.info.url : `${this.info.url}/`;
    const answer = await fetch(new URL('pair/offer', url), { method: 'POST', headers: { authorization: `Bearer ${this.token}` } });
    assert.equal(answer.status, 200);
    return (await answer.json()).url;
  }

  /** A browser that nobody knows. */
  async stranger({ phone = false, dark = false, permissions = [] } = {}) {
    const context = await this.#browser.newContext({ ...(phone ? PHONE : DESK), colorScheme: dark ? 'dark' : 'light', locale: 'en-GB', permissions });
    context.setDefaultTimeout(PATIENCE);
    this.#contexts.push(context);
    const page = await context.newPage();
    page.on('pageerror', (error) => this.complaints.push(`page error: ${error.stack}`));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) this.complaints.push(message.text());
    });
    return page;
  }

  /** A browser that is paired, with the list before it. */
  async page({ name = 'Laptop', ...how } = {}) {
    const page = await this.stranger(how);
    await page.goto(await this.offer());
    await page.getByLabel('Name of this device').fill(name);
    await page.getByRole('button', { name: 'Pair this browser' }).click();
    await page.locator('.list-head .sync.live').waitFor({ state: 'attached' });
    return page;
  }

  /** Starts a session in the page and says something; gives the session's id. */
  async start(page, words, mode = 'default') {
    // Another session may be shown until this one is there.
    const before = await page.locator('.chat[data-session]').evaluateAll(([chat]) => chat?.dataset.session ?? '');
    await page.getByRole('button', { name: 'New session' }).first().click();
    await page.getByLabel('Project directory').fill(this.project);
    await page.getByRole('dialog').getByLabel('Mode').selectOption(mode);
    if (words !== undefined) await page.getByLabel('First message').fill(words);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.locator(`.chat[data-session]:not([data-session="${before}"])`).waitFor();
    return page.locator('.chat').getAttribute('data-session');
  }

  /** Opens a session that another page has started. */
  async join(page, session) {
    await page.evaluate((id) => { location.hash = `#/s/${id}`; }, session);
    await page.locator(`.chat[data-session="${session}"]`).waitFor();
  }

  has(file) {
    return existsSync(join(this.project, file));
  }

  /** What the pages look like, for whoever wants to know why a check failed. */
  async photograph(name) {
    const pages = this.#contexts.flatMap((context) => context.pages());
    const folder = join(process.env.PILOTHOUSE_BROWSER_MODULES, 'failed');
    const take = (page, index) => page.screenshot({ path: join(folder, `${name}-${index}.png`), timeout: 5000 }).catch(() => {});
    await Promise.all(pages.map(take));
    return folder;
  }

  async close() {
    for (const context of this.#contexts) await context.close().catch(() => {});
    this.#gate?.close();
    for (const child of this.#children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      const gone = new Promise((resolve) => { child.once('exit', resolve); });
      child.kill('SIGTERM');
      await gone;
    }
    // A CLI that is just ending may still write there.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Says something in the chat. */
export async function say(page, words) {
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill(words);
  await page.getByRole('button', { name: 'Send' }).click();
}

/** Ends the session that is open, and takes it off the list. */
export async function putAside(page) {
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('button', { name: /^End session/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
  await page.getByText('This session has ended.').waitFor();
  await page.getByRole('button', { name: 'Session menu' }).click();
  await page.getByRole('button', { name: /^Archive/ }).click();
}

/** Waits until something holds. */
export async function until(what, holds) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 25); });
  }
}

/** Waits until the conversation's last row is the end of a turn. */
export function rested(page) {
  return page.locator('.rows .chunk:last-child > .row.turn:last-child').waitFor();
}

/** Waits until a button that decides is armed. Clicks wait by themselves; keys and what a check does in the page do not. */
export function armed(button) {
  return until('the button is armed', () => button.isEnabled());
}

/** Reads what an approval asks about to its end, as nobody may allow it before. */
export function readOn(card) {
  return until('all of it was read', async () => {
    for (const more of ['.diff-more', '.approval-more-button']) {
      const [button] = await card.locator(more).filter({ visible: true }).all();
      if (button === undefined) continue;
      await button.click({ timeout: 1000 }).catch(() => {});
      return false;
    }
    return card.locator('.button.allow').last().isEnabled();
  });
}

/** Waits for words in the conversation. */
export function said(page, words) {
  return page.locator('.chat-log').getByText(words).first().waitFor();
}
