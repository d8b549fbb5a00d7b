/**
 * A host in TypeScript (as plain JavaScript) and its test, with the official SDK and a scripted agent: no key, no
 * network, no cost.
 *
 *     PILOTHOUSE_AGENT=target/release/pilothouse-agent node examples/hosts/host.mjs
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// In a project of your own: import { query } from '@anthropic-ai/claude-agent-sdk';
const modules = createRequire(join(process.env.PILOTHOUSE_TS_MODULES ?? process.cwd(), 'here.js'));
const { query } = await import(pathToFileURL(modules.resolve('@anthropic-ai/claude-agent-sdk')).href);

const agent = process.env.PILOTHOUSE_AGENT ?? 'pilothouse-agent';
const script = fileURLToPath(new URL('deploy.toml', import.meta.url));

async function* prompt(content) {
  yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' };
}

/** The host under test: asks for a deployment, and lets `mayDeploy` decide about each command. */
async function deploy(folder, mayDeploy) {
  const options = {
    cwd: folder,
    pathToClaudeCodeExecutable: agent,
    env: { ...process.env, PILOTHOUSE_SCRIPT: script, CLAUDE_CONFIG_DIR: join(folder, '.config') },
    canUseTool: async (tool, input) => (mayDeploy(input.command)
      ? { behavior: 'allow', updatedInput: input }
      : { behavior: 'deny', message: 'not on a Friday' }),
  };
  for await (const message of query({ prompt: prompt('Please deploy.'), options })) {
    if (message.type === 'result') return message.result;
  }
}

const folder = mkdtempSync(join(tmpdir(), 'host-'));
try {
  assert.equal(await deploy(folder, () => false), 'I was not allowed to deploy.');
  assert.ok(!existsSync(join(folder, 'deployed')), 'a denied command leaves nothing behind');
  assert.equal(await deploy(folder, (command) => command === 'touch deployed'), 'It is live.');
  assert.ok(existsSync(join(folder, 'deployed')), 'an allowed command ran');
  console.log('the TypeScript host does what it should');
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
