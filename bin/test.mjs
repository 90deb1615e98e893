/**
 * `npm test`: everything, from a bare clone. Each stage runs whatever became of the others; the last line is the sum of
 * all runners' reports and the exit code is 0 only when every runner finished, something ran and nothing failed.
 */
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBrowser } from './browser.mjs';
import { readCommandLine } from './command-line.mjs';
import { build, generate, install } from './prepare.mjs';
import { ownNode, root, run, say } from './process.mjs';
import { hideSettings } from './test-run.mjs';

const bin = (...path) => join(root, 'node_modules', ...path);
const sum = { passed: 0, failed: 0, skipped: 0 };
const began = Date.now();

/** Runs one stage, tells how long it took, and counts a crash of the stage itself as a failure. */
async function stage(name, work) {
  say(`— ${name}`);
  const start = Date.now();
  try {
    add(await work());
  } catch (error) {
    say(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    add({ passed: 0, failed: 1, skipped: 0 });
  }
  say(`— ${name} took ${((Date.now() - start) / 1000).toFixed(1)} s`);
}

function add(result) {
  for (const key of Object.keys(sum)) sum[key] += result[key];
}

/**
 * Runs a stage with its output at the terminal, and beside it another one whose output is kept in a file and printed when both
 * have ended. One computes while the other waits.
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

/** A tool that either passes or fails. */
const tool = args => async stdio => {
  const code = await run(ownNode, args, { stdio });
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
};

/** A test runner: its report is counted, and its exit code must agree with it. */
async function runner(args, report, count, { stdio, env = {} }) {
  const code = await run(ownNode, args, { stdio, env });
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`the runner ended with exit code ${code} and left no report`);
  const result = count(JSON.parse(text));
  if (result.passed + result.failed + result.skipped === 0) throw new Error('no test ran');
  // Errors outside of any test (an unhandled rejection, a failing hook) show in the exit code only.
  if (code !== 0 && result.failed === 0) return { ...result, failed: 1 };
  return result;
}

async function checkAndBuild(reports) {
  const biome = [bin('@biomejs', 'biome', 'bin', 'biome'), 'ci', '--colors=off'];
  const tsc = [bin('typescript', 'bin', 'tsc'), '--noEmit', '-p', '.'];
  await sideBySide(
    () =>
      stage('build', async () => {
        await build();
        return { passed: 1, failed: 0, skipped: 0 };
      }),
    async stdio => {
      await stage('format and lint', () => tool(biome)(stdio));
      await stage('types', () => tool(tsc)(stdio));
    },
    join(reports, 'checks.log'),
  );
}

/** Everything but the journeys, with vitest. */
function testWithVitest(reports, stdio) {
  const report = join(reports, 'vitest.json');
  const vitest = [bin('vitest', 'vitest.mjs'), 'run', '--reporter=default', '--reporter=json'];
  const count = json => ({
    passed: json.numPassedTests,
    // A file that does not load has no tests: it counts as one failure.
    failed:
      json.numFailedTests +
      json.testResults.filter(f => f.status === 'failed' && f.assertionResults.length === 0).length,
    skipped: json.numPendingTests + json.numTodoTests,
  });
  return stage('unit, simulation and integration tests', () =>
    runner([...vitest, `--outputFile.json=${report}`], report, count, { stdio }),
  );
}

function testJourneys(reports, stdio) {
  const report = join(reports, 'playwright.json');
  const playwright = [bin('@playwright', 'test', 'cli.js'), 'test', '--reporter=list,json'];
  const count = ({ stats, errors }) => ({
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected + (stats.unexpected === 0 ? errors.length : 0),
    skipped: stats.skipped,
  });
  return stage('journeys through the console', async () => {
    const env = { PLAYWRIGHT_JSON_OUTPUT_NAME: report, BATON_TEST_BROWSER: await findBrowser() };
    return runner(playwright, report, count, { stdio, env });
  });
}

let reports;
try {
  await install();
  await readCommandLine('npm test --', 'Runs every check and test. Parts of them: CONTRIBUTING.md.');
  reports = await mkdtemp(join(tmpdir(), 'baton-reports-'));
  await generate();
  hideSettings();
  process.env.NEXT_TELEMETRY_DISABLED = '1';
  // The build comes before the tests: some of them start the real server.
  await checkAndBuild(reports);
  await sideBySide(
    stdio => testWithVitest(reports, stdio),
    stdio => testJourneys(reports, stdio),
    join(reports, 'journeys.log'),
  );
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  sum.failed += 1;
} finally {
  if (reports) await rm(reports, { recursive: true, force: true });
}
say(`${((Date.now() - began) / 1000).toFixed(0)} s in all`);
process.exitCode = sum.failed > 0 || sum.passed === 0 ? 1 : 0;
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped\n`);
