/**
 * Drives the CLI in PILOTHOUSE_CLI with the official TypeScript SDK and checks what comes of it.
 *
 *     node run.mjs [--jobs=N] [NAME ...]      run all checks, or those whose names contain one of these
 *
 * Every export of checks.mjs is a check and runs in a process of its own. The Messages API is the program in
 * PILOTHOUSE_API, with a script of each check's own. Nothing leaves the machine.
 */
import { fork } from 'node:child_process';
import { writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

const PATIENCE = 90_000;

async function one(name) {
  const { World } = await import('./world.mjs');
  const checks = await import('./checks.mjs');
  const world = new World();
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`not done after ${PATIENCE / 1000} s`)), PATIENCE).unref();
  });
  try {
    await Promise.race([checks[name](world), late]);
    process.exitCode = 0;
  } catch (error) {
    // Written at once: what is still in a pipe when the process ends is lost.
    writeSync(1, `${inspect(error)}\n`);
    process.exitCode = 1;
  } finally {
    world.close();
    process.exit();
  }
}

/** Runs a check in a child; gives what it printed when it failed. */
function apart(name) {
  return new Promise((resolve) => {
    const start = Date.now();
    const child = fork(fileURLToPath(import.meta.url), ['--one', name], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    let printed = '';
    child.stdout.on('data', (data) => { printed += data; });
    child.on('close', (code) => resolve({ name, code, printed, seconds: (Date.now() - start) / 1000 }));
  });
}

async function all(names, jobs) {
  const checks = Object.keys(await import('./checks.mjs'));
  const chosen = checks.filter((check) => names.length === 0 || names.some((name) => check.includes(name)));
  const failed = [];
  const queue = [...chosen];
  const worker = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const { code, printed, seconds } = await apart(name);
      console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} ${seconds.toFixed(1)} s`);
      if (code !== 0) {
        failed.push(name);
        console.log(printed);
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  console.log(`${chosen.length - failed.length} of ${chosen.length} checks of the TypeScript SDK passed`, ...failed);
  process.exit(failed.length > 0 || chosen.length === 0 ? 1 : 0);
}

const given = process.argv.slice(2);
if (given[0] === '--one') {
  await one(given[1]);
} else {
  const jobs = given.find((argument) => argument.startsWith('--jobs='));
  await all(given.filter((argument) => !argument.startsWith('--')), Number(jobs?.slice(7) ?? 4));
}
