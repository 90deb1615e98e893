import { expect, expectAccessible, expectPagesAccessible, settled, test } from '../fixtures/console.ts';

type Api = { call: (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>> };

const script =
  'local rate = {{input.rate}}\nlocal total = steps.amount.result.total\nif total * rate > 10 then\n  error("too much")\nend\nreturn total * rate';
const steps = [
  {
    id: 'amount',
    type: 'lua_script',
    name: 'Add up',
    script: 'log("adding") return { total = 7, items = { { name = "Engine" } } }',
  },
  { id: 'check', type: 'lua_script', name: 'Check the total', script, depends_on: ['amount'] },
  { id: 'after', type: 'lua_script', script: 'return 1', depends_on: ['check'] },
];

/** Runs the workflow to its end; returns the path of the run's page. */
async function run(api: Api, name: string, rate: number): Promise<string> {
  const { id } = await api.call('POST', '/v1/workflows', { name, graph: { steps } });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  const params = { trigger_payload: { rate } };
  const { run_id } = await api.call('POST', `/v1/workflows/${String(id)}/command`, { command: 'start', params });
  const path = `/workflows/${String(id)}/runs/${String(run_id)}`;
  await expect.poll(async () => (await api.call('GET', `/v1${path}/summary`)).run_complete).toBe(true);
  return path;
}

test('a failed run says why and where, beside the line of the script @phone', async ({ member, api }) => {
  const path = await run(api, 'Too much', 2);
  await member.goto(path);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Failed');
  const sentence = member
    .getByRole('alert')
    .filter({ hasText: 'Check the total failed in line 4 of its script: too much' });
  await expect(sentence).toBeVisible();
  await sentence.getByRole('button', { name: 'Check the total' }).click();
  await expect(member).toHaveURL(/step=check/);
  const step = member.getByRole('region', { name: 'Step check' });
  await expect(step.getByRole('region', { name: 'Script' })).toContainText('error("too much")');
  const read = step.getByRole('region', { name: 'Resolved input' });
  await expect(read).toContainText('input.rate:');
  await expect(read).toContainText('steps.amount.result:');
  await expectAccessible(member);
});

test('events open to their data, and the open one is in the address', async ({ member, api }) => {
  const path = await run(api, 'Events', 1);
  await member.goto(`${path}?tab=events`);
  const events = member.getByRole('region', { name: 'Events' });
  await events.getByRole('button', { name: 'Data of event 1', exact: true }).click();
  await expect(member).toHaveURL(/event=1/);
  await expect(member.getByRole('region', { name: 'Event 1' })).toContainText('rate');
  await member.reload();
  await expect(member.getByRole('region', { name: 'Event 1' })).toContainText('rate');
  await expect(events.getByRole('button', { name: 'Data of event 1', exact: true })).toHaveAttribute(
    'aria-expanded',
    'true',
  );
  await expectAccessible(member);
});

test('a value is searched, and its place copied as templates write it', async ({ member, api, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const path = await run(api, 'Values', 1);
  await member.goto(`${path}?step=amount`);
  const step = member.getByRole('region', { name: 'Step amount' });
  await expect(step.getByRole('region', { name: 'Log' })).toContainText('adding');
  await step.getByRole('button', { name: 'Search Result' }).click();
  const search = step.getByRole('searchbox', { name: 'Search in Result' });
  await expect(search).toBeFocused();
  await search.fill('engine');
  await step.getByRole('button', { name: 'Copy path steps.amount.result.items[0].name' }).click();
  await expect(step.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await member.evaluate(() => navigator.clipboard.readText())).toBe('steps.amount.result.items[0].name');
  await member.getByRole('tab', { name: 'Output' }).click();
  await expect(member.getByRole('region', { name: 'Output' })).toContainText('1');
});

test('the views of a run are accessible in both themes @phone', async ({ member, api }) => {
  const failed = await run(api, 'Failing view', 2);
  const path = await run(api, 'View', 1);
  await expectPagesAccessible(member, [
    `${failed}?step=check`,
    `${path}?tab=events&event=3&step=amount`,
    `${path}?tab=output`,
    `${failed}?tab=output`,
  ]);
  await settled(member);
});
