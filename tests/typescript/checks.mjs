/** The checks: what must hold is said above each. */
import { join } from 'node:path';
import { Prompts, SERVER, bash, equal, holds, init, result, results, said, sdk, sent, text, tool, turn, uses, z } from './world.mjs';

const once = (content) => { const prompts = new Prompts(content); prompts.end(); return prompts; };
const allow = async (name, input) => ({ behavior: 'allow', updatedInput: input });
const echo = { type: 'stdio', command: 'python3', args: [SERVER] };

/** One prompt, one answer, one result of the same session. */
export async function aQueryIsAnswered(world) {
  await world.script(text('Hello there.'));
  const messages = await world.ask('hi');
  const end = result(messages);
  equal([said(messages), end.subtype, end.is_error, end.num_turns, end.result], ['Hello there.', 'success', false, 1, 'Hello there.']);
  equal(end.session_id, init(messages).session_id);
  holds(end.total_cost_usd > 0 && Object.keys(end.modelUsage).length === 1, end);
}

/** A read-only command runs unasked, and its output goes back to the model. */
export async function aToolRuns(world) {
  await world.script(bash('echo hello'), text('done'));
  const messages = await world.ask('go');
  equal(uses(messages).map((use) => [use.name, use.input.command]), [['Bash', 'echo hello']]);
  equal(results(messages), [['hello', false]]);
  holds(sent((await world.calls())[1]).includes('tool_result'), 'the result is at the API');
}

/** A stream of prompts is a conversation: the second request carries the first one's messages. */
export async function promptsAreStreamed(world) {
  await world.script(text('one'), text('two'));
  const prompts = new Prompts('first prompt');
  const query = world.query(prompts);
  const first = await turn(query);
  prompts.push('second prompt');
  const second = await turn(query);
  prompts.end();
  equal([said(first), said(second)], ['one', 'two']);
  const history = sent((await world.calls())[1]);
  holds(['first prompt', 'one', 'second prompt'].every((part) => history.includes(part)), history);
}

/** Deltas make up the whole text. */
export async function partialMessagesAddUp(world) {
  await world.script(text('abcdefghij', { chunks: 5 }));
  const messages = await world.ask('hi', { includePartialMessages: true });
  const events = messages.filter((m) => m.type === 'stream_event').map((m) => m.event);
  equal([events[0].type, events.at(-1).type], ['message_start', 'message_stop']);
  equal(events.filter((e) => e.type === 'content_block_delta').map((e) => e.delta.text).join(''), 'abcdefghij');
}

/** The host allows, and the command runs. */
export async function theHostAllows(world) {
  await world.script(bash('touch made'), text('done'));
  const asked = [];
  const canUseTool = async (name, input, options) => { asked.push([name, input.command, options]); return allow(name, input); };
  await world.ask(once('go'), { canUseTool });
  equal(asked.map(([name, command]) => [name, command]), [['Bash', 'touch made']]);
  holds(asked[0][2].toolUseID && asked[0][2].suggestions.length > 0, asked[0][2]);
  holds(world.has('made'), 'the file is there');
}

/** The host denies: nothing runs, and the model reads why. */
export async function theHostDenies(world) {
  await world.script(bash('touch made'), text('understood'));
  const messages = await world.ask(once('go'), { canUseTool: async () => ({ behavior: 'deny', message: 'not on my watch' }) });
  holds(!world.has('made') && results(messages)[0][1], results(messages));
  holds(sent((await world.calls())[1]).includes('not on my watch'), 'the model reads the reason');
  equal(result(messages).permission_denials.map((d) => d.tool_name), ['Bash']);
}

/** What runs is what the host wrote. */
export async function theHostChangesTheInput(world) {
  await world.script(bash('touch asked_for'), text('done'));
  await world.ask(once('go'), { canUseTool: async () => ({ behavior: 'allow', updatedInput: { command: 'touch changed' } }) });
  equal([world.has('asked_for'), world.has('changed')], [false, true]);
}

/** Denying with an interrupt ends the turn. */
export async function theHostDeniesAndInterrupts(world) {
  await world.script(bash('touch made'), text('never'));
  const messages = await world.ask(once('go'), { canUseTool: async () => ({ behavior: 'deny', message: 'stop', interrupt: true }) });
  equal([result(messages).subtype, (await world.calls()).length], ['error_during_execution', 1]);
}

/** A rule for the session settles later calls of the kind. */
export async function aRuleIsNotAskedAgain(world) {
  await world.script(bash('touch a1'), bash('touch a2'), text('done'));
  let asked = 0;
  const updatedPermissions = [{ type: 'addRules', behavior: 'allow', destination: 'session', rules: [{ toolName: 'Bash', ruleContent: 'touch:*' }] }];
  await world.ask(once('go'), { canUseTool: async (name, input) => { asked += 1; return { behavior: 'allow', updatedInput: input, updatedPermissions }; } });
  equal([asked, world.has('a1'), world.has('a2')], [1, true, true]);
}

/** A PreToolUse hook sees the call and denies it. */
export async function aHookDenies(world) {
  await world.script(bash('touch made'), text('done'));
  const seen = [];
  const hook = async (input) => {
    seen.push(input);
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'hooks say no' } };
  };
  const messages = await world.ask(once('go'), { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] } });
  equal(seen.map((input) => [input.hook_event_name, input.tool_name, input.tool_input.command]), [['PreToolUse', 'Bash', 'touch made']]);
  holds(!world.has('made') && results(messages)[0][0].includes('hooks say no'), results(messages));
}

/** Hooks run around the prompt, the tool and the end of the turn. */
export async function hooksFollowATurn(world) {
  await world.script(bash('echo hi'), text('done'));
  const seen = [];
  const hook = async (input) => { seen.push(input.hook_event_name); return {}; };
  const events = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];
  await world.ask(once('go'), { hooks: Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]])) });
  equal(seen, events);
}

/** A hook's words reach the model with the prompt and with the output. */
export async function hooksAddContext(world) {
  await world.script(bash('echo hi'), text('done'));
  const context = (words) => async (input) => ({ hookSpecificOutput: { hookEventName: input.hook_event_name, additionalContext: words } });
  await world.ask(once('go'), { hooks: {
    UserPromptSubmit: [{ hooks: [context('it is raining')] }], PostToolUse: [{ hooks: [context('the tide is high')] }],
  } });
  const calls = await world.calls();
  holds(sent(calls[0]).includes('it is raining') && sent(calls[1]).includes('the tide is high'), sent(calls[1]));
}

/** A Stop hook makes the model go on, once. */
export async function aHookKeepsTheTurnGoing(world) {
  await world.script(text('finished?'), text('now finished'));
  const hook = async (input) => (input.stop_hook_active ? {} : { decision: 'block', reason: 'you forgot the tests' });
  const messages = await world.ask(once('go'), { hooks: { Stop: [{ hooks: [hook] }] } });
  equal(result(messages).result, 'now finished');
  holds(sent((await world.calls())[1]).includes('you forgot the tests'), 'the reason is at the API');
}

/** A tool of the host runs in this process. */
export async function aToolOfTheHostIsCalled(world) {
  const calls = [];
  const add = sdk.tool('add', 'Adds two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => {
    calls.push([a, b]);
    return { content: [{ type: 'text', text: String(a + b) }] };
  });
  const calc = sdk.createSdkMcpServer({ name: 'calc', version: '1.0.0', tools: [add] });
  await world.script(tool('mcp__calc__add', { a: 2, b: 3 }), text('done'));
  const messages = await world.ask(once('go'), { mcpServers: { calc }, allowedTools: ['mcp__calc__add'] });
  equal([calls, results(messages)], [[[2, 3]], [['5', false]]]);
  equal(init(messages).mcp_servers.map((s) => [s.name, s.status]), [['calc', 'connected']]);
}

/** An exception in a tool of the host is an error to the model. */
export async function aToolOfTheHostFails(world) {
  const explode = sdk.tool('explode', 'Raises', { a: z.number() }, async () => { throw new Error('boom'); });
  const calc = sdk.createSdkMcpServer({ name: 'calc', version: '1.0.0', tools: [explode] });
  await world.script(tool('mcp__calc__explode', { a: 2 }), text('done'));
  const messages = await world.ask(once('go'), { mcpServers: { calc }, allowedTools: ['mcp__calc__explode'] });
  equal([results(messages)[0][1], result(messages).result], [true, 'done']);
  holds(results(messages)[0][0].includes('boom'), results(messages));
}

/** A server as a child is started and called, and its status told. */
export async function aServerAsAChild(world) {
  await world.script(tool('mcp__echo__echo', { text: 'ahoy' }), text('done'));
  const prompts = new Prompts('go');
  const query = world.query(prompts, { mcpServers: { echo }, allowedTools: ['mcp__echo__echo'] });
  equal(results(await turn(query)), [['echo: ahoy', false]]);
  const status = await query.mcpServerStatus();
  equal(status.map((s) => [s.name, s.status]), [['echo', 'connected']]);
  prompts.end();
}

/** Servers can be added while a session runs. */
export async function serversAreSetLater(world) {
  await world.script(text('one'), tool('mcp__echo__echo', { text: 'late' }), text('two'));
  const prompts = new Prompts('first');
  const query = world.query(prompts, { allowedTools: ['mcp__echo'] });
  await turn(query);
  const set = await query.setMcpServers({ echo });
  equal([set.added, set.removed], [['echo'], []]);
  prompts.push('second');
  equal(results(await turn(query)), [['echo: late', false]]);
  prompts.end();
}

/** A subagent runs with its own prompt, and its report goes to the main model. */
export async function aSubagentWorks(world) {
  await world.script({ ...text('sub report'), when: 'look around' },
    tool('Task', { description: 'look', prompt: 'look around', subagent_type: 'scout', run_in_background: false }), text('done'));
  const messages = await world.ask(once('go'), { agents: { scout: { description: 'Scouts', prompt: 'You are the scout Ada.', tools: ['Read'] } } });
  const calls = await world.calls();
  holds(JSON.stringify(calls[1].system).includes('scout Ada'), 'its own prompt');
  holds(results(messages)[0][0].includes('sub report') && sent(calls[2]).includes('sub report'), results(messages));
}

/** Output has the asked structure. */
export async function outputHasAStructure(world) {
  await world.script(tool('StructuredOutput', { n: 7 }), text('done'));
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  equal(result(await world.ask('count', { outputFormat: { type: 'json_schema', schema } })).structured_output, { n: 7 });
}

/** A session is resumed, and the model gets what was said before. */
export async function aSessionIsResumed(world) {
  await world.script(text('noted'), text('the lighthouse'));
  const session = result(await world.ask('remember the lighthouse')).session_id;
  const messages = await world.ask('what was it?', { resume: session });
  equal(result(messages).session_id, session);
  holds(sent((await world.calls())[1]).includes('remember the lighthouse'), 'the history is at the API');
}

/** A fork has a new id and the old history; so has a continued session its own. */
export async function aSessionIsForkedAndContinued(world) {
  await world.script(text('noted'), text('branched'), text('again'));
  const session = result(await world.ask('remember the lighthouse')).session_id;
  const fork = result(await world.ask('go on', { resume: session, forkSession: true })).session_id;
  holds(fork !== session, 'a new id');
  const last = result(await world.ask('and?', { continue: true })).session_id;
  equal(last, fork);
  holds((await world.calls()).slice(1).every((call) => sent(call).includes('remember the lighthouse')), 'the history');
}

/** The SDK lists and reads what the CLI wrote. */
export async function aSessionIsListedAndRead(world) {
  await world.script(bash('echo hi'), text('noted'));
  const session = result(await world.ask('remember the lighthouse')).session_id;
  const listed = await sdk.listSessions({ dir: world.project });
  equal(listed.map((s) => [s.sessionId, s.firstPrompt]), [[session, 'remember the lighthouse']]);
  const lines = await sdk.getSessionMessages(session, { dir: world.project });
  equal(lines.map((line) => line.type), ['user', 'assistant', 'user', 'assistant']);
}

/** A store of the host mirrors the session, and can bring it back. */
export async function aStoreMirrorsTheSession(world) {
  const kept = new Map();
  const key = ({ projectKey, sessionId, subpath }) => [projectKey, sessionId, subpath ?? ''].join('/');
  const sessionStore = {
    append: async (at, entries) => { kept.set(key(at), [...(kept.get(key(at)) ?? []), ...entries]); },
    load: async (at) => kept.get(key(at)) ?? null,
  };
  await world.script(text('noted'), text('from the store'));
  const session = result(await world.ask('remember the lighthouse', { sessionStore })).session_id;
  const entries = [...kept].find(([at]) => at.includes(session))[1];
  holds(JSON.stringify(entries).includes('remember the lighthouse'), entries);
  const messages = await world.ask('go on', { resume: session, sessionStore });
  equal(said(messages), 'from the store');
  holds(sent((await world.calls())[1]).includes('remember the lighthouse'), 'the history is at the API');
}

/** An interrupt ends the turn soon; the session goes on. */
export async function aTurnIsInterrupted(world) {
  await world.script(text('x'.repeat(400), { chunks: 100, chunk_delay: 0.2 }), text('back again'));
  const prompts = new Prompts('go');
  const query = world.query(prompts);
  await query.next();
  await new Promise((resolve) => setTimeout(resolve, 700));
  const start = Date.now();
  await query.interrupt();
  equal(result(await turn(query)).subtype, 'error_during_execution');
  holds(Date.now() - start < 5000, 'within five seconds');
  prompts.push('again');
  equal(said(await turn(query)), 'back again');
  prompts.end();
}

/** Aborting ends the process. */
export async function aQueryIsAborted(world) {
  await world.script(text('x'.repeat(400), { chunks: 100, chunk_delay: 0.2 }));
  const abortController = new AbortController();
  const query = world.query(new Prompts('go'), { abortController });
  await query.next();
  abortController.abort();
  let failed = false;
  try { for await (const _ of query); } catch { failed = true; }
  holds(failed, 'the stream ends with an error');
}

/** Model and mode are switched between turns. */
export async function modelAndModeAreSwitched(world) {
  await world.script(text('one'), tool('Write', { file_path: join(world.project, 'b'), content: '2' }), text('two'));
  const prompts = new Prompts('a');
  const query = world.query(prompts, { model: 'claude-sonnet-4-5' });
  await turn(query);
  await query.setModel('claude-haiku-4-5');
  await query.setPermissionMode('acceptEdits');
  prompts.push('b');
  const second = await turn(query);
  prompts.end();
  equal([init(second).permissionMode, world.has('b')], ['acceptEdits', true]);
  equal((await world.calls()).map((call) => call.model), ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-haiku-4-5']);
}

/** Commands, models and the account are told at the start. */
export async function theStartTellsWhatThereIs(world) {
  await world.script(text('ok'));
  const prompts = new Prompts();
  const query = world.query(prompts);
  holds((await query.supportedCommands()).some((command) => command.name === 'compact'), 'commands');
  holds((await query.supportedModels()).every((model) => model.value && model.displayName), 'models');
  holds((await query.accountInfo()) !== undefined, 'account');
  prompts.end();
}

/** Files go back to how they were before a message; a dry run only says so. */
export async function filesAreRewound(world) {
  const path = world.write('notes.txt', 'before\n');
  await world.script(tool('Write', { file_path: path, content: 'after\n' }), text('done'));
  const prompts = new Prompts('edit it');
  const query = world.query(prompts, { permissionMode: 'acceptEdits', enableFileCheckpointing: true, extraArgs: { 'replay-user-messages': null } });
  const mark = (await turn(query)).find((m) => m.type === 'user' && m.uuid).uuid;
  equal(world.read('notes.txt'), 'after\n');
  const dry = await query.rewindFiles(mark, { dryRun: true });
  equal([dry.canRewind, world.read('notes.txt')], [true, 'after\n']);
  await query.rewindFiles(mark);
  equal(world.read('notes.txt'), 'before\n');
  prompts.end();
}

/** Turns are limited. */
export async function turnsAreLimited(world) {
  await world.script(bash('echo 1'), bash('echo 2'), bash('echo 3'), text('never'));
  const end = result(await world.ask('go', { maxTurns: 2 }));
  equal([end.subtype, end.is_error], ['error_max_turns', true]);
}

/** The budget is kept. */
export async function theBudgetIsKept(world) {
  await world.script({ ...bash('echo 1'), usage: { input_tokens: 100000, output_tokens: 5000 } }, text('never'));
  equal(result(await world.ask('go', { maxBudgetUsd: 0.01 })).subtype, 'error_max_budget_usd');
}

/** Files of the project are read only when the host says so. */
export async function settingsAreReadByTheirSource(world) {
  world.write('CLAUDE.md', 'The harbour master is called Ines.');
  world.write('.claude/commands/greet.md', 'Say hello to $ARGUMENTS at once.');
  await world.script(text('hello'), text('nothing'));
  const messages = await world.ask('/greet the crew', { settingSources: ['project'] });
  holds(init(messages).slash_commands.includes('greet'), init(messages).slash_commands);
  await world.ask('hi', { settingSources: [] });
  const [first, second] = await world.calls();
  holds(sent(first).includes('Say hello to the crew at once.') && JSON.stringify(first).includes('called Ines'), sent(first));
  holds(!JSON.stringify(second).includes('called Ines'), 'no memory without sources');
}

/** A system prompt replaces the CLI's own, or is added to it. */
export async function systemPromptsAreSent(world) {
  await world.script(text('one'), text('two'));
  await world.ask('hi', { systemPrompt: 'You are a pirate named Flint.' });
  await world.ask('hi', { systemPrompt: { type: 'preset', preset: 'claude_code', append: 'Mention the teapot.' } });
  const [first, second] = (await world.calls()).map((call) => JSON.stringify(call.system));
  holds(first.includes('pirate named Flint') && second.includes('Mention the teapot.'), 'both are at the API');
}

/** An API that fails for good is an error result; one that fails twice is asked again. */
export async function apiErrorsAreResults(world) {
  await world.script({ error: 529 }, { error: 529 }, text('at last'));
  equal(result(await world.ask('hi')).result, 'at last');
  await world.script({ error: 400, message: 'no such thing', repeat: 9 });
  const end = result(await world.ask('hi'));
  equal([end.subtype, end.is_error, end.api_error_status], ['success', true, 400]);
}

/** An unknown session is refused, and stderr says why. */
export async function anUnknownSessionIsRefused(world) {
  await world.script(text('never'));
  let lines = '';
  let failed = false;
  try {
    const messages = await world.ask('hi', { resume: '6f1a2b3c-0000-4000-8000-000000000000', stderr: (data) => { lines += data; } });
    failed = result(messages).is_error;
  } catch { failed = true; }
  holds(failed, 'the query fails');
  equal((await world.calls()).length, 0);
  holds(lines.includes('No conversation found'), lines);
}

/** Questions of the model are answered by the host. */
export async function questionsAreAnswered(world) {
  const question = { question: 'Which colour?', header: 'Colour', multiSelect: false, options: [
    { label: 'Red', description: 'warm' }, { label: 'Blue', description: 'cold' }] };
  await world.script(tool('AskUserQuestion', { questions: [question] }), text('done'));
  const canUseTool = async (name, input) => ({ behavior: 'allow', updatedInput: { ...input, answers: { 'Which colour?': 'Blue' } } });
  holds(results(await world.ask(once('go'), { canUseTool }))[0][0].includes('Blue'), 'the answer');
}
