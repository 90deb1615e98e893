/**
 * A reporter for vitest that writes a summary for `npm test` to BATON_TEST_REPORT: `{passed, failed, skipped, failures}`. Vitest's own JSON
 * leaves out errors outside of tests, which also fail a run.
 */
import { writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './process.mjs';

/** Returns the text of an error: its message, its diff, and the stack frames in the project's own files. */
function textOf(error) {
  const own = (error.stack ?? error.message ?? String(error))
    .split('\n')
    .filter(line => !line.includes('node_modules/'));
  return stripVTControlCharacters([...own, ...(error.diff ? [error.diff] : [])].join('\n'));
}

/** Returns the failures outside of tests: those of hooks, and of modules that do not load. */
const failuresOf = (name, errors) => errors.map(error => ({ name, text: textOf(error) }));

export default class Report {
  async onTestRunEnd(modules, unhandled) {
    const summary = { passed: 0, failed: 0, skipped: 0, failures: failuresOf('outside of any test', unhandled) };
    for (const module of modules) {
      const file = relative(root, module.moduleId);
      const own = [module, ...module.children.allSuites()].flatMap(part => failuresOf(file, part.errors()));
      summary.failures.push(...own);
      // A file that does not load has no tests, so it counts as one failure.
      if (own.length > 0) summary.failed += 1;
      for (const test of module.children.allTests()) this.count(test, file, summary);
    }
    await writeFile(process.env.BATON_TEST_REPORT, JSON.stringify(summary));
  }

  count(test, file, summary) {
    const { state, errors = [] } = test.result();
    if (state === 'passed') summary.passed += 1;
    else if (state === 'skipped') summary.skipped += 1;
    else {
      // "pending": the worker ended before the test did.
      summary.failed += 1;
      const [first] = errors;
      const text = first ? textOf(first) : `it did not end (${state})`;
      summary.failures.push({ name: `${file} › ${test.fullName}`, text });
    }
  }
}
