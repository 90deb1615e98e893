/**
 * `npm test`: runs every check and test, even in a new clone. Each stage runs even if an earlier one failed. The last
 * line is the sum of all runners' reports. The exit code is 0 only if every runner finished, something ran and nothing
 * failed.
 */
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { affectedBy, changedSince } from './affected.mjs';
import { findBrowser } from './browser.mjs';
import { readCommandLine } from './command-line.mjs';
import { playwrightSummary, printFailures } from './failed-tests.mjs';
import { build, generate, install } from './prepare.mjs';
import { ownNode, printLine, root, run } from './process.mjs';
import { hideSettings } from './test-run.mjs';

const bin = (...path) => join(root, 'node_modules', ...path);
const sum = { passed: 0, failed: 0, skipped: 0 };
/** The failures, printed again at the end: `{name, text}`. */
const failures = [];
const began = Date.now();

/** Runs one stage, prints its duration, and counts a crash of the stage itself as a failure. */
async function stage(name, work) {
  printLine(`— ${name}`);
  const start = Date.now();
  try {
    add(await work());
  } catch (error) {
    add(failure(name, error instanceof Error ? error.message : String(error)));
  }
  printLine(`— ${name} took ${((Date.now() - start) / 1000).toFixed(1)} s`);
}

const failure = (name, text) => ({ passed: 0, failed: 1, skipped: 0, failures: [{ name, text }] });

function add(result) {
  for (const key of Object.keys(sum)) sum[key] += result[key];
  failures.push(...result.failures);
}

/**
 * Runs a stage with its output in the terminal, and in parallel another stage whose output is stored in a file and
 * printed when both have ended. While one stage waits, the other computes.
 */
async function sideBySide(shown, kept, log) {
  const file = await open(log, 'w');
  try {
    await Promise.all([shown('inherit'), kept(['ignore', file.fd, file.fd])]);
  } finally {
    await file.close();
  }
  process.stdout.write(await readFile(log, 'utf8'));
}

/** Returns a stage for a tool that either passes or fails. */
const tool = (name, args) => async stdio => {
  const code = await run(ownNode, args, { stdio });
  return code === 0 ? { passed: 1, failed: 0, skipped: 0, failures: [] } : failure(name, `exit code ${code}`);
};

/** Runs a test runner. Its report is counted, and its exit code must agree with the report. */
async function runner(args, report, summarize, { stdio, env = {} }) {
  const code = await run(ownNode, args, { stdio, env });
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`the runner ended with exit code ${code} and left no report`);
  const result = summarize(JSON.parse(text));
  if (result.passed + result.failed + result.skipped === 0) throw new Error('no test ran');
  // An error outside of all tests (such as an unhandled rejection) fails the run, but no test.
  if (code !== 0 && result.failed === 0) return { ...result, failed: 1 };
  return result;
}

async function checkAndBuild(reports, isBuilt = true) {
  const biome = [bin('@biomejs', 'biome', 'bin', 'biome'), 'ci', '--colors=off'];
  const tsc = [bin('typescript', 'bin', 'tsc'), '--noEmit', '-p', '.', '--singleThreaded'];
  await sideBySide(
    () =>
      stage('build', async () => {
        if (isBuilt) await build();
        return { passed: 1, failed: 0, skipped: 0, failures: [] };
      }),
    async stdio => {
      await stage('format and lint', () => tool('format and lint', biome)(stdio));
      await stage('types', () => tool('types', tsc)(stdio));
    },
    join(reports, 'checks.log'),
  );
}

/** Runs everything but the journeys, or only `files`, with vitest. */
function testWithVitest(reports, stdio, files = []) {
  const report = join(reports, 'vitest.json');
  const reporters = ['--reporter=default', `--reporter=${join(root, 'bin', 'vitest-report.mjs')}`];
  const vitest = [bin('vitest', 'vitest.mjs'), 'run', ...reporters, ...files];
  return stage('unit, simulation and integration tests', () =>
    runner(vitest, report, summary => summary, { stdio, env: { BATON_TEST_REPORT: report } }),
  );
}

function testJourneys(reports, stdio, files = []) {
  const report = join(reports, 'playwright.json');
  const playwright = [bin('@playwright', 'test', 'cli.js'), 'test', '--reporter=list,json', ...files];
  return stage('journeys through the console', async () => {
    // Node strips the types. Playwright's own compiler would take 8 s of CPU, and the journeys would start 5 s later.
    const native = { PW_DISABLE_TS_ESM: '1' };
    const env = { ...native, PLAYWRIGHT_JSON_OUTPUT_NAME: report, BATON_TEST_BROWSER: await findBrowser() };
    return runner(playwright, report, playwrightSummary, { stdio, env });
  });
}

async function testEverything(reports) {
  // The build comes first, because some tests start the real server.
  await checkAndBuild(reports);
  await sideBySide(
    stdio => testWithVitest(reports, stdio),
    stdio => testJourneys(reports, stdio),
    join(reports, 'journeys.log'),
  );
}

/** Tests the changes since a commit. */
async function testChanged(reports, commit) {
  const changed = changedSince(commit);
  if (changed.length === 0) throw new Error(`nothing has changed since ${commit}`);
  const { tests, journeys, left } = affectedBy(changed);
  printLine(`${changed.length} files have changed: ${tests.length} files of tests, and ${journeys.length} of journeys`);
  if (left.length > 0)
    printLine(`left to npm test: ${left.length} journeys and slow tests that the changes can affect, too`);
  const needBuild = journeys.length > 0 || tests.some(path => /^(app|e2e)\//.test(path));
  await checkAndBuild(reports, needBuild);
  await sideBySide(
    stdio => testWithVitest(reports, stdio, tests),
    async stdio => journeys.length > 0 && (await testJourneys(reports, stdio, journeys)),
    join(reports, 'journeys.log'),
  );
}

let reports;
try {
  await install();
  const description = 'Runs every check and test. Parts of them: CONTRIBUTING.md.';
  const { changed } = (
    await readCommandLine('npm test --', description, command =>
      command.option('--changed [commit]', 'only what the changes since a commit can affect; default: HEAD'),
    )
  ).opts();
  reports = await mkdtemp(join(tmpdir(), 'baton-reports-'));
  await generate();
  hideSettings();
  process.env.NEXT_TELEMETRY_DISABLED = '1';
  await (changed === undefined ? testEverything(reports) : testChanged(reports, changed === true ? 'HEAD' : changed));
} catch (error) {
  add(failure('npm test', error instanceof Error ? error.message : String(error)));
} finally {
  if (reports) await rm(reports, { recursive: true, force: true });
}
printFailures(failures);
printLine(`${((Date.now() - began) / 1000).toFixed(0)} s in all`);
process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0;
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
