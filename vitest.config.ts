import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{server,bin,components,app,bench}/**/*.test.{ts,tsx}', 'e2e/{start,faults}/**/*.test.ts'],
    // One PostgreSQL cluster for all test files; each file clones a migrated template database.
    globalSetup: ['server/platform/postgres/testing-cluster.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
