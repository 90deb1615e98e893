import { chromium, type Page } from '@playwright/test';
import pg from 'pg';
import { startServer, type TestServer } from '../../e2e/fixtures/server.ts';
import { withDatabase } from '../../server/platform/postgres/cluster.ts';
import { startTestCluster } from '../../server/testing/postgres-cluster.ts';

/** A signed-in page, its server, and the URL of the server's database. */
type Console = { page: Page; server: TestServer; databaseUrl: string };

/**
 * Calls `measure` with a page of the console in a real browser (`BATON_TEST_BROWSER`, otherwise Playwright's), on a separate server and
 * database. The console must have been built (`npm run build`).
 */
export async function inConsole<T>(measure: (console: Console) => Promise<T>): Promise<T> {
  const cluster = await startTestCluster();
  const admin = new pg.Client({ connectionString: cluster.url });
  await admin.connect();
  await admin.query('CREATE DATABASE console');
  await admin.end();
  const databaseUrl = withDatabase(cluster.url, 'console');
  const server = await startServer({ env: { DATABASE_URL: databaseUrl, BATON_SEED: 'none' }, readyWithinMs: 180_000 });
  const executablePath = process.env.BATON_TEST_BROWSER;
  const browser = await chromium.launch({
    ...(executablePath && { executablePath }),
    chromiumSandbox: process.getuid?.() !== 0,
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${server.url}/sign-in`);
    await page.getByLabel('Email').fill(server.email);
    await page.getByLabel('Password').fill(server.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(/workflows/);
    return await measure({ page, server, databaseUrl });
  } finally {
    await browser.close();
    await server.stop();
    await cluster.stop();
  }
}

/** Returns a function that calls the API of a server as its owner, and throws on any answer but a 2xx. */
export function callerOf(server: TestServer) {
  return async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const headers = { Authorization: `Bearer ${server.pat}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
}
