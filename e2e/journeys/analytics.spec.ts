import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import {
  type Api,
  expect,
  expectAccessible,
  open,
  publishApproval,
  settled,
  startApproval,
  test,
} from '../fixtures/console.ts';
import { pressPair } from '../fixtures/keyboard.ts';

/** Publishes a workflow whose only step fails if the input says so; returns its id. */
async function publishFailable(api: Api, name: string): Promise<string> {
  const script = 'if input.fail then error("as asked") end return { fine = true }';
  const graph = { steps: [{ id: 'work', type: 'lua_script', script }] };
  const { id } = await api.call('POST', '/v1/workflows', { name, graph });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  return String(id);
}

async function runs(api: Api, workflow: string, status?: string) {
  const query = new URLSearchParams({ workflow_id: workflow, limit: '200', ...(status ? { status } : {}) });
  const page = await api.call('GET', `/v1/runs?${query}`);
  return page.runs as { run_id: string; status: string; credits_microcredits: number }[];
}

/** Starts one run, which completes or fails as requested, and waits for its end. */
async function run(api: Api, workflow: string, fail: boolean): Promise<string> {
  const params = { trigger_payload: { fail } };
  const { run_id } = await api.call('POST', `/v1/workflows/${workflow}/command`, { command: 'start', params });
  const path = `/v1/workflows/${workflow}/runs/${String(run_id)}/summary`;
  await expect.poll(async () => (await api.call('GET', path)).run_complete).toBe(true);
  return String(run_id);
}

/** Waits until the ended runs are rolled up, which happens within two seconds of the commit. */
async function waitUntilRolledUp(api: Api, workflow: string, ended: number): Promise<void> {
  const path = `/v1/analytics/success-rate?window=all&workflow_id=${workflow}`;
  await expect.poll(async () => (await api.call('GET', path)).total).toBe(ended);
}

async function csvOf(page: Page, title: string): Promise<string[]> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: `Download ${title} as CSV` }).click();
  const text = await readFile(await (await downloading).path(), 'utf8');
  return text.trimEnd().split('\r\n');
}

const stat = (page: Page, label: string) =>
  page.locator('dl[aria-label="At a glance"] > div').filter({ has: page.getByText(label, { exact: true }) });
const card = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name: title, exact: true }) });

test('analytics roll up runs, agree with the list of runs, and can be filtered, shown as a table and downloaded', async ({
  member,
  api,
}) => {
  const name = `Moody "quoted", =workflow ${Date.now()}`;
  const workflow = await publishFailable(api, name);
  for (const fail of [false, true, false, true, false]) await run(api, workflow, fail);
  const waiting = await publishApproval(api, 'Waits for a person');
  await startApproval(api, waiting, 'this');
  await waitUntilRolledUp(api, workflow, 5);

  await open(member, '/workflows');
  await pressPair(member, 'g', 'a');
  await expect(member).toHaveURL(/\/analytics$/);
  await settled(member);
  await expect(stat(member, 'Live now')).toContainText('waiting for');

  // The workflow filter is in the URL, and Back removes it.
  await member.getByRole('combobox', { name: 'Workflow' }).click();
  await member.getByRole('option', { name }).click();
  await expect(member).toHaveURL(new RegExp(`workflow_id=${workflow}`));
  await expect(stat(member, 'Runs started')).toContainText('5');
  const listed = await runs(api, workflow);
  expect(await runs(api, workflow, 'failed')).toHaveLength(2);
  await expect(stat(member, 'Success rate')).toContainText('60%');
  await expect(stat(member, 'Success rate')).toContainText('3 completed, 2 failed');
  await expect(stat(member, 'Live now')).toContainText('0 running, 0 paused');
  await expect(stat(member, 'Steps executed')).toContainText('5');
  const microcredits = listed.reduce((sum, each) => sum + each.credits_microcredits, 0);
  expect(microcredits).toBeGreaterThan(0);
  await expect(stat(member, 'Credits consumed').locator('data')).toHaveAttribute('value', String(microcredits));
  await expect(card(member, 'Steps by type')).toContainText('2 failed');
  await expect(card(member, 'LLM tokens over time')).toContainText('No model was called in this period.');

  // Each chart has an accessible name, and the arrow keys move through it and announce each value.
  const chart = member.getByRole('application', { name: 'Runs over time' });
  await expect(chart.locator('title')).toHaveText('Runs over time');
  await expect(chart.locator('desc').first()).toContainText('Completed: highest 3');
  await chart.focus();
  await member.keyboard.press('ArrowLeft');
  await member.keyboard.press('ArrowRight');
  await expect(card(member, 'Runs over time').getByRole('status')).toHaveText(/Completed \d+, Failed \d+, Stopped 0$/);
  await expectAccessible(member);

  // The same numbers can be shown as a table, which is in the URL, and downloaded as a file that escapes formulas in names.
  await member.getByRole('button', { name: 'Show Runs over time as table' }).click();
  await expect(member).toHaveURL(/tables=runs/);
  const rows = member.getByRole('region', { name: 'Runs over time' }).getByRole('row');
  await expect(rows.first()).toHaveText('PeriodStartedCompletedFailedStopped');
  await expect(rows.filter({ hasText: /5320$/ })).toHaveCount(1);
  await member.getByRole('button', { name: 'Show Duration as table' }).click();
  await expect(member.getByRole('region', { name: 'Duration' }).getByRole('row').nth(2)).toContainText(name);
  await expectAccessible(member);
  const csv = await csvOf(member, 'Runs over time');
  expect(csv[0]).toBe('Period,Started,Completed,Failed,Stopped');
  expect(csv.filter(line => line.endsWith(',5,3,2,0'))).toHaveLength(1);
  const byWorkflow = await csvOf(member, 'Credits by workflow');
  expect(byWorkflow[0]).toBe('Workflow,Credits (microcredits),Workflow ID');
  expect(byWorkflow[1]).toBe(`"${name.replaceAll('"', '""')}",${microcredits},${workflow}`);

  // Other periods, granularities and time zones are in the URL, so a shared page looks the same.
  await member.getByRole('combobox', { name: 'Period' }).click();
  await member.getByRole('option', { name: 'Last 7 days' }).click();
  await member.getByRole('combobox', { name: 'Granularity' }).click();
  await member.getByRole('option', { name: 'By hour' }).click();
  await member.getByRole('combobox', { name: 'Time zone' }).click();
  const zones = member.getByRole('dialog', { name: 'Time zone' }).getByRole('combobox');
  await expect(zones).toBeFocused();
  await zones.fill('kabul');
  await member.getByRole('option', { name: 'Asia/Kabul' }).click();
  await expect(member.getByText(/Asia\/Kabul$/).first()).toBeVisible();
  await expect(rows.filter({ hasText: /GMT\+4:30/ }).first()).toBeVisible();
  await member.reload();
  await settled(member);
  await expect(rows.filter({ hasText: /GMT\+4:30/ }).first()).toBeVisible();
  await expect(stat(member, 'Runs started')).toContainText('5');
  await member.goBack();
  await expect(member.getByRole('combobox', { name: 'Time zone' })).not.toHaveText('Asia/Kabul');

  // An empty period says that nothing ran, and offers another action.
  await open(member, `/analytics?workflow_id=${workflow}&from=2020-01-01&to=2020-01-31`);
  await expect(stat(member, 'Runs started')).toHaveCount(0);
  await expect(member.getByText('No runs in this period')).toBeVisible();
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Show all time' }).click();
  await settled(member);
  await card(member, 'Runs by workflow').getByRole('link').first().click();
  await expect(member).toHaveURL(/\/runs\?workflow_id=/);
});

test('the credits of a run are shown for the run, a step and an attempt, and in the list', async ({ member, api }) => {
  const workflow = await publishFailable(api, `Priced ${Date.now()}`);
  const id = await run(api, workflow, false);
  const [listed] = await runs(api, workflow);
  const value = String(listed?.credits_microcredits);
  expect(Number(value)).toBeGreaterThan(0);
  await open(member, `/workflows/${workflow}/runs/${id}?step=work`);
  await expect(member.locator('dl').locator('data').first()).toHaveAttribute('value', value);
  const step = member.getByRole('region', { name: 'Step work' });
  await expect(step.locator('data')).toHaveAttribute('value', value);
  await expect(step.getByRole('listitem')).toContainText('credits');
  await open(member, `/runs?workflow_id=${workflow}`);
  await expect(member.getByRole('row').locator('data')).toHaveAttribute('value', value);
});

test('unavailable analytics show an error, and recover', async ({ member }) => {
  const analytics = '**/api/trpc/*analytics_*';
  await member.route(analytics, async route => {
    const names = new URL(route.request().url()).pathname.split('/').at(-1)?.split(',') ?? [];
    const data = { code: 'analytics_unavailable', status: 503, httpStatus: 503 };
    const error = { message: 'Analytics are not available. Try again shortly.', code: -32603, data };
    await route.fulfill({ status: 503, json: names.map(() => ({ error })) });
  });
  await member.goto('/analytics');
  // Until all nine requests have failed, each chart whose request failed shows its own alert.
  await expect(member.getByText('Analytics are not available right now')).toBeVisible();
  await expect(member.getByRole('main').getByRole('alert')).toHaveCount(1);
  await expectAccessible(member);
  await member.unroute(analytics);
  await member.getByRole('button', { name: 'Try again' }).click();
  await settled(member);
  await expect(member.getByRole('main').getByRole('alert')).toHaveCount(0);
});
