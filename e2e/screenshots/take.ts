import { rm, writeFile } from 'node:fs/promises';
import { chromium, expect, type Page } from '@playwright/test';
import { generatePatToken } from '../../server/domains/identity/pats/token.ts';
import { freePort } from '../../server/platform/postgres/free-port.ts';
import { newDataDir, startServer } from '../fixtures/server.ts';

/**
 * `npm run screenshots`: takes the pictures of README.md and docs/tour.md. bin/screenshots.mjs has built the console and found a
 * browser.
 */
const IMAGES = new URL('../../docs/images/', import.meta.url);
const MAX_WAIT_MS = 120_000;

/** The run of the tour, which is long enough to be killed while it waits. */
const STEPS = [
  script('orders', 'Read the orders'),
  pause(2, 'stock', 'Wait for the stock', 'orders'),
  pause(2, 'carrier', 'Wait for the carrier', 'orders'),
  script('parcels', 'Make up the parcels', 'stock', 'carrier'),
  pause(20, 'pickup', 'Wait for the pickup', 'parcels'),
  script('report', 'Report', 'pickup'),
];

const dataDir = await newDataDir();
const env = {
  // The page reconnects to the server that is started after the kill.
  PORT: String(await freePort()),
  BATON_PAT: generatePatToken(),
  BATON_OWNER_PASSWORD: 'a password for pictures',
  BATON_SEED: 'example',
  BATON_BILLING: 'metered',
};
const executablePath = process.env.BATON_TEST_BROWSER;
const browser = await chromium.launch({
  ...(executablePath && { executablePath }),
  chromiumSandbox: process.getuid?.() !== 0,
});
let server = await startServer({ env, dataDir, readyWithinMs: MAX_WAIT_MS });
try {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
    locale: 'en-US',
  });
  page.setDefaultTimeout(MAX_WAIT_MS);
  await signIn(page);
  await takeWaitingRun(page);
  await takeKilledRun(page);
} finally {
  await browser.close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${server.url}/sign-in`);
  await page.getByLabel('Email').fill(server.email);
  await page.getByLabel('Password').fill(server.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/workflows/);
}

/** The picture of README.md: a run of the example that waits for a person. */
async function takeWaitingRun(page: Page): Promise<void> {
  let waiting: Run | undefined;
  // The example's own answers to tasks of two other runs arrive after a moment.
  await expect(async () => {
    const { runs } = (await call('GET', '/v1/runs?q=example-')) as { runs: Run[] };
    expect(runs.filter(run => run.orchestration_phase === 'complete').length).toBeGreaterThanOrEqual(4);
    waiting = runs.find(run => run.orchestration_phase === 'blocked');
    expect(waiting).toBeDefined();
  }).toPass({ timeout: MAX_WAIT_MS });
  await page.goto(`${server.url}/workflows/${waiting?.workflow_id}/runs/${waiting?.run_id}`);
  await page.getByText('open in the inbox').waitFor();
  await save(page, 'run');
}

/** The pictures of docs/tour.md: the page of a run whose server is killed, and the same page after the next start. */
async function takeKilledRun(page: Page): Promise<void> {
  const { id } = await call('POST', '/v1/workflows', { name: 'Ship parcels', graph: { steps: STEPS } });
  await call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First version' });
  const params = { trigger_payload: {} };
  const { run_id } = await call('POST', `/v1/workflows/${String(id)}/command`, { command: 'start', params });
  await page.goto(`${server.url}/workflows/${String(id)}/runs/${String(run_id)}`);
  await page.locator('[data-step="pickup"][data-status="sleeping"]').waitFor();
  await server.kill();
  await page.getByText('The connection was lost').waitFor();
  await save(page, 'run-killed');
  server = await startServer({ env, dataDir, readyWithinMs: MAX_WAIT_MS });
  await page.locator('[data-step="report"][data-status="completed"]').waitFor();
  await save(page, 'run-continued');
}

type Run = { run_id: string; workflow_id: string; orchestration_phase: string };

async function call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${server.pat}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

async function save(page: Page, name: string): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[data-skeleton]') === null);
  await page.evaluate(() => document.fonts.ready);
  const picture = await page.screenshot({ animations: 'disabled' });
  await writeFile(new URL(`${name}.png`, IMAGES), picture);
  process.stdout.write(`docs/images/${name}.png  ${Math.ceil(picture.length / 1024)} KiB\n`);
}

function script(id: string, name: string, ...depends_on: string[]) {
  return { id, type: 'lua_script', name, script: 'return 1', depends_on };
}

function pause(seconds: number, id: string, name: string, ...depends_on: string[]) {
  return { id, type: 'wait', name, seconds, depends_on };
}
