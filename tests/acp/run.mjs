/**
 * Drives the CLI in PILOTHOUSE_CLI with the reference ACP adapter, as an editor does, and compares what the editor is told with what
 * it is told over the real CLI, which recorded.json holds.
 *
 *     node run.mjs [--jobs=N] [--record] [NAME ...]      run all scenarios, or those whose names contain one of these
 *
 * Every export of scenarios.mjs is one and runs in a process of its own. The Messages API is the program in PILOTHOUSE_API, with
 * a script of each scenario's own. `--record` writes recorded.json anew: only of use with the real CLI.
 */
import { fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { comparable } from './trace.mjs';

const PATIENCE = 90_000;
const RECORDED = join(dirname(fileURLToPath(import.meta.url)), 'recorded.json');

async function one(name) {
  const { World } = await import('./world.mjs');
  const scenarios = await import('./scenarios.mjs');
  const world = new World();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${PATIENCE / 1000} s`)), PATIENCE);
  });
  let failed;
  try {
    await Promise.race([scenarios[name](world), late]);
    await world.logAsides();
  } catch (error) {
    failed = inspect(error);
  }
  clearTimeout(timer);
  process.send({ trace: comparable(world.trace), failed }, () => { world.close().finally(() => process.exit()); });
}

/** Runs a scenario in a child; gives its trace. */
function apart(name) {
  return new Promise((resolve) => {
    const start = Date.now();
    const child = fork(fileURLToPath(import.meta.url), ['--one', name], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    let told = { trace: [], failed: 'the scenario ended without a word' };
    child.on('message', (message) => { told = message; });
    child.on('close', () => resolve({ ...told, seconds: (Date.now() - start) / 1000 }));
  });
}

/** The lines that differ, in the order of the recorded trace. */
function differences(recorded, trace) {
  const lines = [];
  for (let at = 0; at < Math.max(recorded.length, trace.length); at += 1) {
    if (recorded[at] !== trace[at]) lines.push(`  - ${recorded[at] ?? ''}\n  + ${trace[at] ?? ''}`);
    else lines.push(`    ${trace[at]}`);
  }
  return lines.some((line) => line.startsWith('  -')) ? lines : [];
}

async function all(names, jobs, record) {
  const scenarios = Object.keys(await import('./scenarios.mjs'));
  const chosen = scenarios.filter((scenario) => names.length === 0 || names.some((name) => scenario.includes(name)));
  const recorded = JSON.parse(readFileSync(RECORDED, 'utf8'));
  const failed = [];
  const queue = [...chosen];
  const worker = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const { trace, failed: error, seconds } = await apart(name);
      if (record && !error) recorded[name] = trace;
      const wrong = error ? [error, ...trace] : differences(recorded[name] ?? [], trace);
      console.log(`${wrong.length === 0 ? 'ok    ' : 'FAILED'} ${name} ${seconds.toFixed(1)} s`);
      if (wrong.length > 0) {
        failed.push(name);
        console.log(wrong.join('\n'));
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  if (record) {
    const sorted = Object.fromEntries(scenarios.filter((name) => recorded[name]).map((name) => [name, recorded[name]]));
    writeFileSync(RECORDED, `${JSON.stringify(sorted, null, 1)}\n`);
  }
  console.log(`${chosen.length - failed.length} of ${chosen.length} scenarios of the ACP adapter passed`, ...failed);
  process.exit(failed.length > 0 || chosen.length === 0 ? 1 : 0);
}

const given = process.argv.slice(2);
if (given[0] === '--one') {
  await one(given[1]);
} else {
  const jobs = given.find((argument) => argument.startsWith('--jobs='));
  await all(given.filter((argument) => !argument.startsWith('--')), Number(jobs?.slice(7) ?? 4), given.includes('--record'));
}
