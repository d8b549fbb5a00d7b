/** What every check has: a throw-away home and project, a scripted Messages API, and short ways to ask. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The SDK is installed under target/, so it is found by its folder. */
const modules = createRequire(join(process.env.PILOTHOUSE_TS_MODULES, 'here.js'));
export const sdk = await import(pathToFileURL(modules.resolve('@anthropic-ai/claude-agent-sdk')).href);
export const { z } = await import(pathToFileURL(modules.resolve('zod')).href);

export const SERVER = join(dirname(fileURLToPath(import.meta.url)), '..', 'servers', 'echo.py');

/** A turn of the model that says something. */
export const text = (said, more = {}) => ({ text: said, ...more });
/** A turn of the model that calls a tool. */
export const tool = (name, input, more = {}) => ({ tool: name, input, ...more });
/** A turn of the model that runs a command. */
export const bash = (command) => tool('Bash', { command, description: 'run it' });

export class World {
  constructor() {
    this.root = mkdtempSync(join(tmpdir(), 'pilothouse-sdk-'));
    this.home = join(this.root, 'home');
    this.project = join(this.home, 'project');
    this.config = join(this.home, '.claude');
    mkdirSync(this.project, { recursive: true });
    mkdirSync(this.config);
    this.children = [];
    this.queries = [];
    // The SDK's own functions read sessions where this says.
    process.env.CLAUDE_CONFIG_DIR = this.config;
    process.env.HOME = this.home;
  }

  close() {
    for (const query of this.queries) query.close();
    for (const child of this.children) child.kill();
    // A CLI that is just ending may still write there.
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** Starts the API with these turns; a check may do so again for its next CLI. */
  async script(...turns) {
    const path = join(this.root, 'script.json');
    writeFileSync(path, JSON.stringify(turns));
    this.url = await this.start(process.env.PILOTHOUSE_API, path);
  }

  /** Starts a program that prints its URL, and ends it with the check. */
  async start(program, ...args) {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.children.push(child);
    for await (const line of createInterface({ input: child.stdout })) return line;
    throw new Error(`${program} printed nothing`);
  }

  /** The requests that took a turn of the script, oldest first. */
  async calls() {
    const calls = await (await fetch(`${this.url}/calls`)).json();
    return calls.filter((call) => call.kind === 'main').map((call) => call.body);
  }

  options({ env = {}, ...given } = {}) {
    return {
      cwd: this.project,
      pathToClaudeCodeExecutable: process.env.PILOTHOUSE_CLI,
      // Some CLIs print parts of their source when they fail; a check that wants stderr asks for it.
      stderr: () => {},
      env: {
        PATH: process.env.PATH, HOME: this.home, CLAUDE_CONFIG_DIR: this.config, ANTHROPIC_API_KEY: 'dummy',
        ANTHROPIC_BASE_URL: this.url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: '1', IS_SANDBOX: '1', ...env,
      },
      ...given,
    };
  }

  /** A running query; the caller reads it. */
  query(prompt, given) {
    const query = sdk.query({ prompt, options: this.options(given) });
    this.queries.push(query);
    return query;
  }

  /** One query; all its messages. That a failed run also ends the process is no error here. */
  async ask(prompt, given) {
    const messages = [];
    try {
      for await (const message of this.query(prompt, given)) messages.push(message);
    } catch (error) {
      if (!messages.some((message) => message.type === 'result')) throw error;
    }
    return messages;
  }

  write(name, content) {
    const path = join(this.project, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  read(name) {
    return readFileSync(join(this.project, name), 'utf8');
  }

  has(name) {
    return existsSync(join(this.project, name));
  }
}

/** Prompts that are pushed one by one, for a session of several turns. */
export class Prompts {
  constructor(...contents) {
    this.waiting = contents;
    this.wake = () => {};
  }

  push(content) {
    this.waiting.push(content);
    this.wake();
  }

  end() {
    this.ended = true;
    this.wake();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.waiting.length > 0) {
        const content = this.waiting.shift();
        yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' };
      }
      if (this.ended) return;
      await new Promise((resolve) => { this.wake = resolve; });
    }
  }
}

/** The messages up to the next result. */
export async function turn(query) {
  const messages = [];
  for (;;) {
    const { value, done } = await query.next();
    if (done) return messages;
    messages.push(value);
    if (value.type === 'result') return messages;
  }
}

const blocks = (messages, kind) => messages
  .filter((message) => Array.isArray(message.message?.content))
  .flatMap((message) => message.message.content)
  .filter((block) => block.type === kind);

/** What the assistant said, as one text. */
export const said = (messages) => blocks(messages.filter((m) => m.type === 'assistant'), 'text').map((b) => b.text).join('');
export const uses = (messages) => blocks(messages, 'tool_use');
/** The tool results as [text, is_error]. */
export const results = (messages) => blocks(messages, 'tool_result').map((block) => [flat(block.content), Boolean(block.is_error)]);
export const flat = (content) => (Array.isArray(content) ? content.map((b) => b.text ?? '').join('') : content ?? '');
export const init = (messages) => messages.find((m) => m.type === 'system' && m.subtype === 'init');
export const result = (messages) => messages.filter((m) => m.type === 'result').at(-1);
/** The messages of an API request as text: for asking whether something was said. */
export const sent = (call) => JSON.stringify(call.messages);
export const equal = assert.deepEqual;
export const holds = (condition, what) => assert.ok(condition, typeof what === 'string' ? what : JSON.stringify(what));
