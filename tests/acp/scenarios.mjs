/** The scenarios: each drives a session as an editor does. The trace of each over the real CLI is in recorded.json. */
import { bash, echoServer, sleep, text, tool } from './world.mjs';

const LONG = 'one two three four five six seven eight nine ten';
/** Long enough for a CLI to have taken in what came before, on a busy machine. */
const A_MOMENT = 400;
/** A command that takes long and is no `sleep`, which the real CLI refuses. */
const LASTING = bash(`python3 -c 'import time; time.sleep(60)'`);
/** Errors of the API are not tried again. */
const ONCE = { env: { CLAUDE_CODE_MAX_RETRIES: '0' } };

async function started(world, turns, { mode, ...options } = {}) {
  await world.script(...turns);
  await world.connect(options);
  await world.begin();
  if (mode) await world.mode(mode);
}

export async function aPromptIsAnswered(world) {
  await started(world, [text('Hello there.'), text('Again.')]);
  await world.prompt('hi');
  await world.prompt('hi again');
}

/** The adapter asks the CLI by `auth status` before there is a session. */
async function account(world, env) {
  await world.script();
  await world.connect({ env });
}

export async function theAccountIsToldBeforeASession(world) {
  await account(world, {});
}

export async function aMissingKeyIsToldBeforeASession(world) {
  await account(world, { ANTHROPIC_API_KEY: '' });
}

export async function aReadOnlyCommandRunsUnasked(world) {
  await started(world, [bash('echo hello'), text('done')]);
  await world.prompt('go');
}

export async function anApprovedCommandRuns(world) {
  await started(world, [bash('touch made'), text('done')]);
  await world.prompt('go');
  world.file('made');
}

export async function aDeniedCommandDoesNotRun(world) {
  await started(world, [bash('touch made'), text('understood')]);
  world.onPermission = async () => 'reject_once';
  await world.prompt('go');
  world.file('made');
}

export async function anApprovalForGoodIsNotAskedAgain(world) {
  await started(world, [bash('curl -V'), bash('curl -V'), text('done')]);
  world.onPermission = async () => 'allow_always';
  await world.prompt('go');
}

export async function anEditIsShownAsADiff(world) {
  world.write('note.txt', 'old\n');
  const path = `${world.project}/note.txt`;
  await started(world, [
    tool('Read', { file_path: path }),
    tool('Edit', { file_path: path, old_string: 'old', new_string: 'new' }),
    text('changed'),
  ]);
  await world.prompt('go');
  world.file('note.txt');
}

/** Each of the five points of a cancel is followed by a prompt that the session must still answer. */
async function goesOn(world) {
  await sleep(A_MOMENT);
  await world.prompt('still there?');
}

export async function cancelBeforeTheFirstToken(world) {
  await started(world, [text('never', { delay: 20 }), text('still here')]);
  const reply = world.prompt('go');
  while ((await world.calls()).length === 0) await sleep(50);
  await sleep(A_MOMENT);
  await world.cancel();
  await reply;
  await goesOn(world);
}

export async function cancelDuringAText(world) {
  await started(world, [text(LONG, { chunks: 10, hang: true }), text('still here')]);
  const said = world.when('agent_message_chunk');
  const reply = world.prompt('go');
  await said;
  await sleep(A_MOMENT);
  await world.cancel();
  await reply;
  await goesOn(world);
}

export async function cancelDuringATool(world) {
  await started(world, [LASTING, text('still here')], { mode: 'bypassPermissions' });
  const running = world.when('tool_call_update python3');
  const reply = world.prompt('go');
  await running;
  await sleep(3 * A_MOMENT);
  await world.cancel();
  await reply;
  await goesOn(world);
}

/**
 * Answers an open request as cancelled, a moment after the cancel: the adapter passes the answer on as an error of the host, and before
 * its interrupt a CLI that is quick enough asks the model once more.
 */
async function closesDialog(world) {
  await sleep(A_MOMENT);
  world.release();
}

export async function cancelWhileAPermissionIsOpen(world) {
  await started(world, [bash('touch made'), text('still here')]);
  const asked = world.when('ask');
  world.onPermission = () => new Promise((resolve) => { world.release = () => resolve('cancelled'); });
  const reply = world.prompt('go');
  await asked;
  await sleep(A_MOMENT);
  await world.cancel();
  await closesDialog(world);
  await reply;
  world.file('made');
  await goesOn(world);
}

export async function cancelRightAfterTheEnd(world) {
  await started(world, [text('done'), text('still here')]);
  await world.prompt('go');
  await world.cancel();
  await goesOn(world);
}

export async function cancelOfASecondToolAfterAFirst(world) {
  await started(world, [bash('echo one'), LASTING, text('still here')], { mode: 'bypassPermissions' });
  const running = world.when('tool_call_update python3');
  const reply = world.prompt('go');
  await running;
  await sleep(3 * A_MOMENT);
  await world.cancel();
  await reply;
  await goesOn(world);
}

export async function acceptEditsWritesUnasked(world) {
  await started(world, [tool('Write', { file_path: `${world.project}/made.txt`, content: 'x' }), bash('curl -V'), text('done')], { mode: 'acceptEdits' });
  world.onPermission = async () => 'reject_once';
  await world.prompt('go');
  world.file('made.txt');
}

export async function bypassRunsEverythingUnasked(world) {
  await started(world, [bash('touch made'), text('done')], { mode: 'bypassPermissions' });
  await world.prompt('go');
  world.file('made');
}

export async function defaultModeIsTakenUpAgain(world) {
  await started(world, [bash('touch made'), text('done')], { mode: 'acceptEdits' });
  await world.mode('default');
  await world.prompt('go');
  await world.mode('no such mode');
}

const PLAN = tool('ExitPlanMode', { plan: '1. Write the file' });

export async function anApprovedPlanIsCarriedOut(world) {
  const write = tool('Write', { file_path: `${world.project}/made.txt`, content: 'x' });
  await started(world, [PLAN, write, text('done')], { mode: 'plan' });
  await world.prompt('plan it');
  world.file('made.txt');
}

export async function anApprovedPlanMayBypassPermissions(world) {
  const write = tool('Write', { file_path: `${world.project}/made.txt`, content: 'x' });
  await started(world, [PLAN, write, text('done')], { mode: 'plan' });
  world.onPermission = async () => 'exit-plan-bypass';
  await world.prompt('plan it');
  world.file('made.txt');
}

export async function aRejectedPlanStaysAPlan(world) {
  await started(world, [PLAN, text('thinking again'), text('still here')], { mode: 'plan' });
  world.onPermission = async () => 'reject_once';
  await world.prompt('plan it');
  await goesOn(world);
}

export async function cancelWhileAPlanIsOpen(world) {
  await started(world, [PLAN, text('still here')], { mode: 'plan' });
  const asked = world.when('ask');
  world.onPermission = () => new Promise((resolve) => { world.release = () => resolve('cancelled'); });
  const reply = world.prompt('plan it');
  await asked;
  await sleep(A_MOMENT);
  await world.cancel();
  await closesDialog(world);
  await reply;
  await goesOn(world);
}

export async function planModeRefusesToWrite(world) {
  await started(world, [tool('Write', { file_path: `${world.project}/made.txt`, content: 'x' }), text('understood')], { mode: 'plan' });
  world.onPermission = async () => 'reject_once';
  await world.prompt('go');
  world.file('made.txt');
}

export async function aSessionIsLoadedInANewProcess(world) {
  await started(world, [bash('echo hello'), text('first'), text('second')]);
  await world.prompt('go');
  const { session } = world;
  const [first] = world.children.splice(1, 1);
  first.stdin.end();
  await new Promise((resolve) => { first.once('close', resolve); });
  await world.connect();
  const loaded = await world.agent.request('session/load', { sessionId: session, cwd: world.project, mcpServers: [] });
  world.log(`load -> ${loaded.modes?.currentModeId}`);
  await world.prompt('go on');
  const history = JSON.stringify((await world.calls()).at(-1).messages);
  world.log(`history ${['hello', 'first', 'go on'].map((part) => history.includes(part))}`);
}

export async function aCancelledSessionIsLoaded(world) {
  await started(world, [LASTING, text('second')], { mode: 'bypassPermissions' });
  const running = world.when('tool_call_update python3');
  const reply = world.prompt('go');
  await running;
  await sleep(3 * A_MOMENT);
  await world.cancel();
  await reply;
  const { session } = world;
  const [first] = world.children.splice(1, 1);
  first.stdin.end();
  await new Promise((resolve) => { first.once('close', resolve); });
  await world.connect();
  await world.agent.request('session/load', { sessionId: session, cwd: world.project, mcpServers: [] });
  world.log('load -> ok');
  await world.prompt('go on');
}

export async function anUnknownSessionIsNotLoaded(world) {
  await started(world, []);
  const request = { sessionId: '11111111-1111-4111-8111-111111111111', cwd: world.project, mcpServers: [] };
  const reply = await world.agent.request('session/load', request).then(() => 'ok', (error) => `error ${error.code}`);
  world.log(`load -> ${reply}`);
}

export async function sessionsAreListed(world) {
  await started(world, [text('first')]);
  await world.prompt('go');
  const { sessions } = await world.agent.request('session/list', { cwd: world.project });
  world.log(`list -> ${sessions.map((one) => one.sessionId === world.session)}`);
}

export async function todosBecomeAPlan(world) {
  const todos = (status) => tool('TodoWrite', { todos: [{ content: 'first', status, activeForm: 'doing first' }] });
  await started(world, [todos('in_progress'), todos('completed'), text('done')]);
  await world.prompt('go');
}

export async function aSubagentIsACall(world) {
  await started(world, [
    tool('Agent', { description: 'look', prompt: 'look around', subagent_type: 'general-purpose', run_in_background: false }),
    text('found it', { when: 'look around' }),
    text('done'),
  ]);
  await world.prompt('go');
}

export async function aToolOfAServerIsAsked(world) {
  await world.script(tool('mcp__echo__echo', { text: 'hi' }), text('done'));
  await world.connect();
  await world.begin({ mcpServers: [echoServer] });
  await world.prompt('go');
}

export async function thoughtsAreTold(world) {
  await started(world, [{ blocks: [{ type: 'thinking', thinking: 'hmm' }, { type: 'text', text: 'done' }] }]);
  await world.prompt('go');
}

export async function anApiErrorIsAnError(world) {
  await started(world, [{ error: 500, repeat: 20 }], ONCE);
  world.hidesWords = true;
  await world.prompt('go');
}

export async function aRefusedKeyIsAnError(world) {
  await started(world, [{ error: 401, repeat: 5 }], ONCE);
  world.hidesWords = true;
  await world.prompt('go');
}

export async function aMissingKeyIsAnError(world) {
  await world.script();
  await world.connect({ env: { ANTHROPIC_API_KEY: '' } });
  const begun = await world.begin().then(() => true, (error) => { world.log(`new -> error ${error.code}`); return false; });
  world.hidesWords = true;
  if (begun) await world.prompt('go');
}

export async function anAnswerThatIsCutOffAgainAndAgainIsAnError(world) {
  await started(world, [text('half', { stop_reason: 'max_tokens', repeat: 8 })]);
  world.hidesWords = true;
  await world.prompt('go');
}

export async function anotherModelIsChosen(world) {
  await world.script(text('done'));
  await world.connect();
  const made = await world.begin();
  const model = made.configOptions.find((option) => option.id === 'model');
  const other = model.options.find((option) => option.value !== model.currentValue);
  const answer = await world.agent.request('session/set_config_option', { sessionId: world.session, configId: 'model', value: other.value });
  world.log(`set model -> ${answer.configOptions.find((option) => option.id === 'model').currentValue === other.value}`);
  await world.prompt('go');
}

export async function aSlashCommandIsRun(world) {
  await started(world, []);
  world.hidesWords = true;
  await world.prompt('/cost');
}

export async function aQuestionIsAForm(world) {
  const question = { question: 'Which?', header: 'Pick', multiSelect: false, options: [{ label: 'A', description: 'a' }, { label: 'B', description: 'b' }] };
  await started(world, [tool('AskUserQuestion', { questions: [question] }), text('done')], { capabilities: { elicitation: { form: {} } } });
  world.onElicitation = async ({ requestedSchema }) => ({
    action: 'accept', content: Object.fromEntries(Object.keys(requestedSchema.properties).slice(0, 1).map((key) => [key, 'A'])),
  });
  await world.prompt('go');
}
