import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes a minute and more: begun last, it would leave all other cores idle. */
const longest = /\/server\/orchestrator\/simulation\/|\/server\/main\.test|\/e2e\//;

/** Vitest begins with the largest files, unless it remembers how long each took, which a fresh clone does not. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [
      ...sorted.filter(({ moduleId }) => longest.test(moduleId)),
      ...sorted.filter(({ moduleId }) => !longest.test(moduleId)),
    ];
  }
}

export default defineConfig({
  // As in tsconfig.json.
  resolve: { alias: { '@': fileURLToPath(new URL('.', import.meta.url)) } },
  test: {
    include: ['{server,bin,components,app,bench}/**/*.test.{ts,tsx}', 'e2e/{start,faults,fuzz,security}/**/*.test.ts'],
    // One PostgreSQL cluster for all test files; each file clones a migrated template database.
    globalSetup: ['server/testing/postgres-cluster.ts'],
    // The default leaves one core idle, which on two is half of the machine.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    // They end what hangs; no test measures time, and a busy machine may take its own.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
