import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Test files that take a minute or more: started last, they would leave all other cores idle. */
const longest = /\/server\/process\/main\.test|\/e2e\//;
/** Test files whose own processes fill every core, but give way to everything else. */
const busiest = /\/server\/orchestrator\/simulation\/(simulation|mutations)\.test/;
/**
 * After this part of all other files the busiest begin: about when the journeys of `npm test` end. Two workers leave a
 * quarter of two cores idle by themselves, and from then on these take it. As the last files, they had the machine alone.
 */
const BEFORE_BUSIEST = 0.45;

/** Vitest begins with the largest files, unless it remembers how long each took, which a fresh clone does not. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // A worker is kept for the next file only where that one may share it, too.
    const rank = ({ moduleId, project }: TestSpecification) =>
      longest.test(moduleId) ? 0 : 1 + projects.indexOf(project.name);
    const busy = sorted.filter(({ moduleId }) => busiest.test(moduleId));
    const others = sorted.filter(file => !busy.includes(file)).toSorted((one, other) => rank(one) - rank(other));
    return others.toSpliced(Math.floor(others.length * BEFORE_BUSIEST), 0, ...busy);
  }
}

/** The names of the projects below, in the order in which they begin. */
const projects = ['isolated', 'console', 'server'];

/**
 * Files that replace a module or change their process permanently. All others share the workers and the modules these
 * have imported: importing them again for each file took a quarter of all CPU.
 */
const isolated = [
  'app/(console)/load-me.test.ts',
  'app/api/auth/options.test.ts',
  'server/domains/identity/sign-in.test.ts',
];

// As in tsconfig.json.
const resolve = { alias: { '@': fileURLToPath(new URL('.', import.meta.url)) } };

const common = {
  // The young generation begins at the size to which it would grow, and grows further: 7 % less CPU.
  execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=32'],
  // They end what hangs; no test measures time, and a busy machine may take its own.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Instead of one second, which a busy machine exceeds.
  expect: { poll: { timeout: 60_000, interval: 20 } },
  setupFiles: ['server/testing/seed-properties.ts', 'server/testing/cheap-passwords.ts'],
};

export default defineConfig({
  test: {
    // One PostgreSQL cluster for all test files; each file clones a migrated template database.
    globalSetup: ['server/testing/postgres-cluster.ts'],
    // The default leaves one core idle, which on two is half of the machine. One worker more made two cores slower.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    projects: [
      { resolve, test: { ...common, name: 'isolated', include: isolated, isolate: true } },
      // What runs in a browser is written for a bundler: JSX, and imports of `@/`.
      {
        resolve,
        test: {
          ...common,
          name: 'console',
          include: ['{components,app}/**/*.test.{ts,tsx}'],
          exclude: ['**/node_modules/**', ...isolated],
          isolate: false,
        },
      },
      // Node runs the server's files as they are, as in production. Vite's runner turns each use of an import into the
      // call of a getter, and sends each file through the main process: a sixth more CPU. Only `vi.mock` needs the loader.
      {
        test: {
          ...common,
          name: 'server',
          include: ['{server,bin,bench,e2e}/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...isolated],
          isolate: false,
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
    ],
  },
});
