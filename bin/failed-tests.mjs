/** The failed tests of a run, in one form for all runners. */
import { stripVTControlCharacters } from 'node:util';
import { printLine } from './process.mjs';

/** The maximum length of a printed message. The output above contains the whole message. */
const SHOWN_CHARACTERS = 3_000;

/** Returns the specs of a Playwright suite and of its nested suites. */
const specsOf = suite => [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(specsOf)];

/** Converts Playwright's JSON report to `{passed, failed, skipped, failures: {name, text}[]}`. */
export function playwrightSummary({ stats, errors, suites }) {
  const failures = errors.map(error => ({ name: 'outside of any journey', text: error.message ?? '' }));
  for (const spec of suites.flatMap(specsOf)) {
    for (const test of spec.tests.filter(({ status }) => status === 'unexpected')) {
      const error = test.results.at(-1)?.error;
      const name = `[${test.projectName}] ${spec.file}:${spec.line} › ${spec.title}`;
      failures.push({ name, text: error?.stack ?? error?.message ?? 'it did not end' });
    }
  }
  return {
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected + (stats.unexpected === 0 ? errors.length : 0),
    skipped: stats.skipped,
    failures,
  };
}

/** Prints the failures, so that they are at the end of a long output. */
export function printFailures(failures) {
  for (const { name, text } of failures) {
    printLine(`failed: ${name}`);
    process.stdout.write(`${stripVTControlCharacters(text).slice(0, SHOWN_CHARACTERS)}\n`);
  }
}
