/** The surroundings of a scenario: a throw-away home, a scripted Messages API, the adapter, and an ACP client that keeps a trace. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { told } from './trace.mjs';

const place = process.env.PILOTHOUSE_ACP_MODULES;
const modules = createRequire(join(place, 'here.js'));
const acp = await import(pathToFileURL(modules.resolve('@agentclientprotocol/sdk')).href);
const ADAPTER = join(place, 'node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js');
const ECHO = join(dirname(fileURLToPath(import.meta.url)), '..', 'servers', 'echo.py');

/** A turn of the model that says something. */
export const text = (said, more = {}) => ({ text: said, ...more });
/** A turn of the model that calls a tool. */
export const tool = (name, input, more = {}) => ({ tool: name, input, ...more });
/** A turn of the model that runs a command. */
export const bash = (command, more = {}) => tool('Bash', { command, description: 'run it' }, more);
export const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
/** An MCP server on stdio, as ACP names one. */
export const echoServer = { name: 'echo', command: 'python3', args: [ECHO], env: [] };

export class World {
  constructor() {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'pilothouse-acp-')));
    this.home = join(this.root, 'home');
    this.project = join(this.home, 'project');
    mkdirSync(join(this.home, '.claude'), { recursive: true });
    mkdirSync(this.project);
    this.children = [];
    this.trace = [];
    this.watchers = [];
    /** What is known of each tool call, by its id. */
    this.tools = new Map();
    /** The tokens in use, as they are told. */
    this.used = [];
    /** Whether what is said is the CLI's own words, which are not compared. */
    this.hidesWords = false;
    /** Chooses the option of a permission request by its kind; a scenario replaces it. */
    this.onPermission = async () => 'allow_once';
    this.onElicitation = async () => ({ action: 'cancel' });
  }

  /** Ends the adapter, which ends its CLIs, then the API. */
  async close() {
    for (const child of this.children.toReversed()) {
      child.stdin?.end();
      const gone = new Promise((resolve) => { child.once('close', resolve); });
      if (child.exitCode === null && child.signalCode === null) {
        await Promise.race([gone, sleep(5000).then(() => child.kill('SIGKILL'))]);
      }
    }
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** Starts the API with these turns. */
  async script(...turns) {
    const path = join(this.root, 'script.json');
    writeFileSync(path, JSON.stringify(turns));
    const api = spawn(process.env.PILOTHOUSE_API, [path], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.children.push(api);
    for await (const line of createInterface({ input: api.stdout })) {
      this.url = line;
      return;
    }
    throw new Error('the scripted API printed nothing');
  }

  /** The requests that took a turn of the script, oldest first. */
  async calls() {
    const calls = await (await fetch(`${this.url}/calls`)).json();
    return calls.filter((call) => call.kind === 'main').map((call) => call.body);
  }

  /** Starts the adapter and shakes hands. */
  async connect({ env = {}, capabilities = {} } = {}) {
    const child = spawn(process.execPath, [ADAPTER], {
      cwd: this.project,
      stdio: ['pipe', 'pipe', process.env.PILOTHOUSE_ACP_DEBUG ? 'inherit' : 'ignore'],
      env: {
        PATH: process.env.PATH, HOME: this.home, CLAUDE_CONFIG_DIR: join(this.home, '.claude'), ANTHROPIC_API_KEY: 'dummy',
        ANTHROPIC_BASE_URL: this.url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: '1', IS_SANDBOX: '1', CLAUDE_CODE_EXECUTABLE: process.env.PILOTHOUSE_CLI, ...env,
      },
    });
    this.children.push(child);
    const app = acp.client({ name: 'pilothouse' })
      .onRequest('session/request_permission', ({ params }) => this.permission(params))
      .onRequest('elicitation/create', async ({ params }) => {
        this.log(`ask form ${Object.keys(params.requestedSchema?.properties ?? {}).length}`);
        return this.onElicitation(params);
      })
      .onNotification('session/update', ({ params }) => {
        const line = told(params.update, this);
        this.watch(`${params.update.sessionUpdate} ${params.update.title ?? ''}`);
        if (line !== null) this.log(line);
      })
      .onNotification('*', ({ params }) => { this.account = params?.authStatus?.kind ?? this.account; });
    this.connection = app.connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
    this.agent = this.connection.agent;
    const shaken = await this.agent.request('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false, ...capabilities },
    });
    this.log(`initialize -> ${shaken.protocolVersion}`);
    return shaken;
  }

  async permission(request) {
    const { toolCall, options } = request;
    const kinds = options.map((option) => `${option.kind}:${option.optionId}`);
    this.log(`ask ${toolCall.kind} ${this.tidy(toolCall.title)} [${kinds.join(' ')}]`);
    const chosen = await this.onPermission(request);
    if (chosen === 'cancelled') return { outcome: { outcome: 'cancelled' } };
    const option = options.find((one) => one.optionId === chosen) ?? options.find((one) => one.kind === chosen);
    if (!option) throw new Error(`no option ${chosen} among ${kinds}`);
    this.log(`choose ${option.optionId}`);
    return { outcome: { outcome: 'selected', optionId: option.optionId } };
  }

  /** Begins a session and tells what it offers. */
  async begin(more = {}) {
    const made = await this.agent.request('session/new', { cwd: this.project, mcpServers: [], ...more });
    this.session = made.sessionId;
    this.log(`new -> modes ${made.modes?.currentModeId} of ${(made.modes?.availableModes ?? []).map((mode) => mode.id)}`);
    return made;
  }

  /** Sends a prompt; gives the stop reason, or the error as a text. */
  async prompt(said, more = {}) {
    const content = typeof said === 'string' ? [{ type: 'text', text: said }] : said;
    this.log('prompt');
    const reply = await this.agent.request('session/prompt', { sessionId: this.session, prompt: content, ...more }).then(
      (answer) => answer.stopReason,
      (error) => `error ${error.code}`,
    );
    this.log(`prompt -> ${reply}`);
    return reply;
  }

  async cancel() {
    this.log('cancel');
    await this.agent.notify('session/cancel', { sessionId: this.session });
  }

  async mode(modeId) {
    const reply = await this.agent.request('session/set_mode', { sessionId: this.session, modeId }).then(
      () => 'ok',
      (error) => `error ${error.code}`,
    );
    this.log(`set_mode ${modeId} -> ${reply}`);
  }

  log(line) {
    if (process.env.PILOTHOUSE_ACP_DEBUG) process.stderr.write(`${line}\n`);
    this.trace.push(line);
    this.watch(line);
  }

  watch(line) {
    for (const watcher of this.watchers) watcher(line);
  }

  /** What the adapter tells when it likes: the account, and the tokens in use. */
  async logAsides() {
    for (let tries = 0; tries < 200 && this.account === undefined; tries += 1) await sleep(50);
    this.log(`account ${this.account}`);
    this.log(`used ${this.used.join(' ')}`);
  }

  /** Resolves when a line that begins so comes into the trace, or an update of that kind and title. */
  when(start) {
    return new Promise((resolve) => {
      this.watchers.push((line) => { if (line.startsWith(start)) resolve(); });
    });
  }

  /** A text without the names that no two runs share. */
  tidy(said) {
    return String(said ?? '').replaceAll(this.project, '<project>').replaceAll(this.home, '<home>')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>');
  }

  write(name, content) {
    const path = join(this.project, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  file(name) {
    const path = join(this.project, name);
    this.log(`file ${name} ${existsSync(path) ? JSON.stringify(readFileSync(path, 'utf8')) : 'absent'}`);
  }
}
