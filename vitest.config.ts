import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{server,bin,components,app,bench}/**/*.test.{ts,tsx}', 'e2e/{start,faults,security}/**/*.test.ts'],
    // One PostgreSQL cluster for all test files; each file clones a migrated template database.
    globalSetup: ['server/platform/postgres/testing-cluster.ts'],
    // The default leaves one core idle, which on two is half of the machine.
    maxWorkers: '100%',
    // They end what hangs; no test measures time, and a busy machine may take its own.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
