import { test as base, expect, expectAccessible, signIn } from '../fixtures/console.ts';
import { startServer } from '../fixtures/server.ts';

/** The server as a new user sees it: with the example and its runs. */
const test = base.extend({
  ownServer: async ({ perFile }, use) => {
    const start = () => startServer({ env: { BATON_SEED: 'example' } });
    await use(await perFile('server', start, server => server.stop()));
  },
});

test('sign in, start the example above the threshold, see it wait, approve it, see it complete @phone', async ({
  page,
  server,
}) => {
  await signIn(page, server.email, server.password);
  await page.goto('/workflows');
  await page.getByRole('link', { name: 'Expense approval' }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Expense approval');
  await expect(page.getByRole('region', { name: 'Graph of the draft' }).locator('[data-step]')).toHaveCount(9);

  // Start it with an amount above the threshold.
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Run “Expense approval”' });
  await dialog.getByLabel('employee').fill('Ada Lovelace');
  await dialog
    .getByLabel('items')
    .fill(JSON.stringify([{ description: 'Difference engine', category: 'software', amount: 940, receipt: true }]));
  await dialog.getByRole('button', { name: 'Start run' }).click();

  // The run waits for the person.
  await expect(page).toHaveURL(/\/workflows\/[0-9a-f-]+\/runs\/[0-9a-f-]+/);
  const runUrl = page.url().split('?')[0] ?? '';
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Waiting for a person');
  const graph = page.getByRole('region', { name: 'Graph of the run' });
  await expect(graph.locator('[data-step="manager_approval"]')).toHaveAttribute('data-status', 'waiting');
  await expect(graph.locator('[data-step="auto_approve"]')).toHaveAttribute('data-status', 'skipped');
  await expectAccessible(page);

  // A second window stays on the run, to check that it updates live.
  const watcher = await page.context().newPage();
  await watcher.goto(runUrl);
  await expect(watcher.getByRole('heading', { level: 1 })).toContainText('Waiting for a person');

  // Approve it in the inbox.
  await page.goto('/inbox');
  await page.getByRole('link', { name: /Approve the expenses of Ada Lovelace/ }).click();
  await expect(page.getByRole('heading', { name: /Approve the expenses of Ada Lovelace/ })).toBeVisible();
  await expect(page.getByText('Difference engine').first()).toBeVisible();
  await page.getByRole('button', { name: 'Approve' }).click();
  await expect(page.getByText(/Approved “Approve the expenses of Ada Lovelace”/)).toBeVisible();

  // It completes in the window that was never reloaded, and its result can be read.
  await expect(watcher.getByRole('heading', { level: 1 })).toContainText('Completed');
  await expect(watcher.locator('[data-step="summary"]')).toHaveAttribute('data-status', 'completed');
  await watcher
    .getByRole('region', { name: 'Steps' })
    .getByRole('button', { name: /Sum it up/ })
    .click();
  await expect(watcher.getByRole('region', { name: 'Result' })).toContainText('Ada Lovelace');
  await expectAccessible(watcher);
});

test('the same job through the API, with the token', async ({ server, api }) => {
  const { workflows } = await api.call('GET', '/v1/workflows?q=Expense');
  const [workflow] = workflows as { id: string }[];
  const start = await fetch(`${server.url}/v1/workflows/${workflow?.id}/command`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${server.pat}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      command: 'start',
      params: {
        trigger_payload: {
          employee: 'Grace',
          items: [{ description: 'Nanoseconds', category: 'other', amount: 900, receipt: true }],
        },
      },
    }),
  });
  expect(start.status).toBe(200);
  const { run_id } = (await start.json()) as { run_id: string };
  const path = `/v1/workflows/${workflow?.id}/runs/${run_id}`;
  await expect.poll(async () => (await api.call('GET', `${path}/summary`)).orchestration_phase).toBe('blocked');
  const answer = await api.call('POST', `${path}/tasks/manager_approval/complete`, { approved: true });
  expect(answer).toEqual({ status: 'completed', task_id: 'manager_approval', approved: true });
  await expect.poll(async () => (await api.call('GET', `${path}/summary`)).status).toBe('completed');
  const context = await api.call('GET', `${path}/context`);
  expect(context).toMatchObject({ steps: { manager_approval: { result: { approved: true } } } });
  expect(JSON.stringify(context)).toContain('Grace');
});

test('the examples come with finished runs and one that waits', async ({ page, server, api }) => {
  // The second workflow is created after the first, when the console already answers.
  const phases = async () => {
    const { runs } = await api.call('GET', '/v1/runs?q=example-');
    return (runs as { orchestration_phase: string }[]).map(run => run.orchestration_phase).sort();
  };
  await expect.poll(phases).toEqual(['blocked', 'complete', 'complete', 'complete', 'complete']);
  await signIn(page, server.email, server.password);
  await page.goto('/inbox');
  await expect(page.getByRole('region', { name: 'Waiting tasks' }).getByRole('link')).not.toHaveCount(0);
});
