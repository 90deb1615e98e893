import {
  type Api,
  expect,
  expectAccessible,
  expectPagesAccessible,
  expectThemesAccessible,
  settled,
  test,
} from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';

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

/** Runs a new workflow until it ends, and returns the path of the run's page. */
async function run(api: Api, name: string, rate: number): Promise<string> {
  const { id } = await api.call('POST', '/v1/workflows', { name, graph: { steps } });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  const params = { trigger_payload: { rate } };
  const { run_id } = await api.call('POST', `/v1/workflows/${String(id)}/command`, { command: 'start', params });
  const path = `/workflows/${String(id)}/runs/${String(run_id)}`;
  await expect.poll(async () => (await api.call('GET', `/v1${path}/summary`)).run_complete).toBe(true);
  return path;
}

test('a failed run shows its error, the position and the line of the script @phone', async ({ member, api }) => {
  const path = await run(api, 'Too much', 2);
  // The HTML from the server shows the error without the page's scripts and their data.
  const page = (await (await member.request.get(path)).text()).replace(/<script\b.*?<\/script>/gs, '');
  const expectedTexts = ['Too much', 'Failed', 'in line 4 of its script', 'Add up', 'Success', 'Skipped'];
  expect(expectedTexts.filter(text => !page.includes(text))).toEqual([]);
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

test('events expand to show their data, and the expanded event is in the URL', async ({ member, api }) => {
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

test('a value can be searched, and its path copied in the syntax of templates', async ({ member, api, context }) => {
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
  const copied = () => member.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied).toBe('steps.amount.result.items[0].name');
  await member.getByRole('tab', { name: 'Output' }).click();
  await expect(member.getByRole('region', { name: 'Output' })).toContainText('1');
});

test('graph, timeline and events share one selection, by mouse and keyboard @phone', async ({ member, api }) => {
  const path = await run(api, 'Timeline', 2);
  await member.goto(`${path}?tab=timeline`);
  const timeline = member.getByRole('region', { name: 'Timeline' });
  const first = timeline.getByRole('button', { name: /^Add up/ });
  const second = timeline.getByRole('button', { name: /^Check the total: Failed/ });
  await first.click();
  await expect(first).toHaveAttribute('aria-pressed', 'true');
  await expect(member.getByRole('region', { name: 'Step amount' })).toBeVisible();
  await expect(first).toBeFocused();
  await first.press('ArrowDown');
  await expect(second).toBeFocused();
  await second.press('Enter');
  await expect(second).toHaveAttribute('aria-pressed', 'true');
  await expect(member).toHaveURL(/step=check/);
  await expect(timeline.getByRole('button', { name: /^after: Skipped/ })).toBeVisible();
  await expectAccessible(member);
  await member.getByRole('tab', { name: 'Graph' }).click();
  await expect(member.getByRole('region', { name: 'Step check' })).toBeVisible();
  await member.getByRole('tab', { name: 'Events' }).click();
  const events = member.getByRole('region', { name: 'Events' });
  await expect(events.getByRole('button', { name: 'Add up', exact: true }).first()).toBeInViewport({ ratio: 1 });
  expect(await events.evaluate(list => list.scrollWidth - list.clientWidth)).toBe(0);
});

test('a failed run is repaired and continued from the failed step', async ({ member, api }) => {
  const path = await run(api, 'Mended', 2);
  await member.goto(path);
  await member.getByRole('link', { name: 'Edit and run again from here' }).click();
  await expect(member).toHaveURL(/continue=/);
  const banner = member.getByRole('region', { name: 'Continue a run' });
  await expect(banner).toContainText('Edit Check the total');
  await expectAccessible(member);
  await member.goto(`${member.url()}&panel=json`);
  const mended = steps.map(step =>
    step.id === 'check' ? { ...step, script: 'return steps.amount.result.total' } : step,
  );
  await replaceText(member.getByRole('textbox', { name: 'Graph as JSON' }), JSON.stringify({ steps: mended }, null, 2));
  await banner.getByRole('button', { name: 'Run again from here' }).click();
  await expect(member).not.toHaveURL(/continue=/);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Completed');
  expect(member.url()).not.toContain(path);
  const list = member.getByRole('region', { name: 'Steps' });
  await expect(list.getByRole('button', { name: /^Add up/ })).toContainText('Reused');
  await expect(list.getByRole('button', { name: /^Check the total/ })).toContainText('Success');
  const graph = member.getByRole('region', { name: 'Graph of the run' });
  await expect(graph.locator('[data-step="check"]')).toContainText(/\d ms|\d s/);
  // The runs link to each other, and the list contains the new run although it ran the draft.
  const facts = member.getByRole('definition').filter({ hasText: /^Run, / });
  await facts.getByRole('link').click();
  await expect(member).toHaveURL(new RegExp(path));
  await expect(member.getByText('Run again as')).toBeVisible();
  await member.goBack();
  await member.getByRole('tab', { name: 'Output' }).click();
  await expect(member.getByRole('region', { name: 'Output' })).toContainText('1');
  await member.goto(`${path.replace(/\/runs\/.*/, '')}?tab=runs`);
  // One step is reused, so no step waits for it.
  await expect(member.getByRole('row', { name: /draft · rerun/ })).toContainText('2/2 steps ran, 1 skipped');
});

test('two runs are compared side by side @phone', async ({ member, api }) => {
  const path = await run(api, 'Compared', 2);
  const [workflow = ''] = /[0-9a-f-]{36}/.exec(path) ?? [];
  const params = { trigger_payload: { rate: 1 } };
  const { run_id } = await api.call('POST', `/v1/workflows/${workflow}/command`, { command: 'start', params });
  const other = `/v1/workflows/${workflow}/runs/${String(run_id)}/summary`;
  await expect.poll(async () => (await api.call('GET', other)).run_complete).toBe(true);
  await member.goto(`${path}?tab=compare`);
  await member.getByRole('combobox', { name: 'Compare with' }).click();
  await member.getByRole('option', { name: /Completed/ }).click();
  await expect(member).toHaveURL(new RegExp(`with=${String(run_id)}`));
  const outcomes = member.getByRole('region', { name: 'Steps of both runs' });
  await expect(outcomes).toContainText('2 of 3 steps ended differently.');
  await expect(outcomes.getByRole('row', { name: /^Check the total Failed/ })).toContainText('Success');
  await outcomes.getByRole('button', { name: 'Add up' }).click();
  await expect(member.getByRole('region', { name: 'Result in the other run' })).toContainText('total:7');
  await expect(member.getByRole('region', { name: 'Input of this run' })).toContainText('2');
  await expectThemesAccessible(member);
});

test('the views of a run are accessible in both themes @phone', async ({ member, api }) => {
  const failed = await run(api, 'Failing view', 2);
  const path = await run(api, 'View', 1);
  await expectPagesAccessible(member, [
    `${failed}?step=check`,
    `${path}?tab=events&event=3&step=amount`,
    `${path}?tab=output`,
    `${failed}?tab=output`,
    `${failed}?tab=timeline&step=check`,
  ]);
  await settled(member);
});

test('a run links to the run that it called, and a failed run to the run of its failure handler', async ({
  member,
  api,
}) => {
  const publish = async (name: string, graph: object) => {
    const { id } = await api.call('POST', '/v1/workflows', { name, graph });
    await api.call('POST', `/v1/workflows/${String(id)}/versions`, {});
    return String(id);
  };
  const lua = (text: string) => [{ id: 'only', type: 'lua_script', script: text }];
  const called = await publish('Called', { steps: lua('error("no")') });
  const handler = await publish('Handler', { steps: lua('return 1') });
  const steps = [{ id: 'call', type: 'call_workflow', workflow_id: called }];
  const caller = await publish('Caller', { steps, on_failure: { workflow_id: handler } });
  const { run_id } = await api.call('POST', `/v1/workflows/${caller}/command`, { command: 'start', params: {} });
  const path = `/workflows/${caller}/runs/${String(run_id)}`;
  await expect.poll(async () => (await api.call('GET', `/v1${path}/snapshot`)).status).toBe('failed');

  await member.goto(`${path}?step=call`);
  const child = member.getByRole('link', { name: 'Open the called run' });
  await child.focus();
  await expect(child).toBeFocused();
  await member.keyboard.press('Enter');
  await expect(member).toHaveURL(new RegExp(`/workflows/${called}/runs/`));
  await member.getByRole('link', { name: /^Caller: Run, / }).click();
  await expect(member).toHaveURL(new RegExp(`${path}$`));

  // The handler starts some seconds after the failure; the page shows it without a reload.
  const handling = member.getByRole('link', { name: 'Run of the failure handler' });
  await expect.poll(async () => (await api.call('GET', `/v1${path}/snapshot`)).failure_handler).not.toBeNull();
  await expect(handling).toBeVisible();
  await expectAccessible(member);
  await handling.focus();
  await expect(handling).toBeFocused();
  await member.keyboard.press('Enter');
  await expect(member).toHaveURL(new RegExp(`/workflows/${handler}/runs/`));
  await member.getByRole('link', { name: 'A failed run' }).click();
  await expect(member).toHaveURL(new RegExp(`${path}$`));
});
