/**
 * Checks the page in a real browser against a real bridge.
 *
 *     node run.mjs [--screens=DIR] [NAME ...]      run all checks, or those whose names contain one of these
 *
 * Every export of checks_*.mjs is a check and has a bridge of its own. The bridge is PILOTHOUSE_BIN, the browser
 * PILOTHOUSE_CHROMIUM, the real CLI PILOTHOUSE_REAL_CLI and its model PILOTHOUSE_API. With --screens the pictures of the
 * README are made instead.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { World, chromium } from './world.mjs';

const PATIENCE = 180_000;

async function found() {
  const files = readdirSync(new URL('.', import.meta.url)).filter((name) => /^checks_.*\.mjs$/.test(name)).sort();
  const modules = await Promise.all(files.map((name) => import(`./${name}`)));
  return modules.flatMap((module) => Object.entries(module));
}

async function one(browser, name, check) {
  const world = new World(browser);
  const start = Date.now();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${PATIENCE / 1000} s`)), PATIENCE);
  });
  let problem = null;
  try {
    await Promise.race([check(world), late]);
    if (world.complaints.length > 0) problem = world.complaints.join('\n');
  } catch (error) {
    problem = [inspect(error), ...world.complaints, `pictures: ${await world.photograph(name)}`].join('\n');
  } finally {
    clearTimeout(timer);
    await world.close();
  }
  console.log(`${problem === null ? 'ok    ' : 'FAILED'} ${name} ${((Date.now() - start) / 1000).toFixed(1)} s`);
  if (problem !== null) console.log(problem);
  return problem === null;
}

/** Where a program is; Playwright takes no bare names. */
function located(name) {
  return name.includes('/') ? name : process.env.PATH.split(':').map((folder) => join(folder, name)).find(existsSync);
}

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const screens = process.argv.find((argument) => argument.startsWith('--screens='))?.slice('--screens='.length);
const browser = await chromium.launch({
  executablePath: located(process.env.PILOTHOUSE_CHROMIUM),
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
});
let failed = 0;
let passed = 0;
/** @type {string[]} */
const flaky = [];
try {
  const checks = screens === undefined
    ? (await found()).filter(([name]) => names.length === 0 || names.some((part) => name.includes(part)))
    : [['screens', (world) => import('./screens.mjs').then(({ take }) => take(world, screens))]];
  for (const [name, check] of checks) {
    // A flaky check is a bug, and is listed as one; but one lost race on a busy machine does not hold everything else up.
    if (await one(browser, name, check)) passed += 1;
    else if (await one(browser, name, check)) flaky.push(name);
    else failed += 1;
  }
} finally {
  await browser.close();
}
if (flaky.length > 0) console.log(`right only the second time: ${flaky.join(', ')}`);
console.log(`${passed + flaky.length} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
