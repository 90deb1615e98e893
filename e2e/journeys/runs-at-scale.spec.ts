import { readFile } from 'node:fs/promises';
import { type Api, expect, expectAccessible, expectThemesAccessible, test } from '../fixtures/console.ts';

const lua = (id: string, script: string, more: object = {}) => ({ id, type: 'lua_script', script, ...more });
const itemsOf = (length: number) => JSON.stringify(Array.from({ length }, (_, at) => at + 1));
/** A loop over thirty items, of which the tenth, twentieth and thirtieth fail. */
const loop = {
  id: 'each',
  type: 'for_each',
  name: 'Each order',
  items: itemsOf(30),
  on_item_error: 'continue',
  steps: [lua('charge', 'if item % 10 == 0 then error("card declined") end return item', { name: 'Charge the card' })],
};

async function publish(api: Api, name: string, steps: object[]): Promise<string> {
  const { id } = await api.call('POST', '/v1/workflows', { name, graph: { steps } });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, {});
  return String(id);
}

/** Runs the workflow to its end; returns the path of the run's page. */
async function run(api: Api, id: string, input: object = {}): Promise<string> {
  const start = { command: 'start', params: { trigger_payload: input } };
  const { run_id } = await api.call('POST', `/v1/workflows/${id}/command`, start);
  const path = `/workflows/${id}/runs/${String(run_id)}`;
  await expect.poll(async () => (await api.call('GET', `/v1${path}/summary`)).run_complete).toBe(true);
  return path;
}

test('the items of a loop are browsed, with jumps to the failed ones @phone', async ({ member, api }) => {
  const path = await run(api, await publish(api, 'Invoices', [loop]));
  await member.goto(`${path}?step=each`);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Invoices');
  const step = member.getByRole('region', { name: 'Step each' });
  await expect(step.getByText('1 of 30')).toBeVisible();
  await expect(step.getByText('3 failed')).toBeVisible();
  await expect(step.getByText('2 attempts')).toHaveCount(0);
  // The graph draws the steps of the loop for the same item.
  const graph = member.getByRole('region', { name: 'Graph of the run' });
  const charge = graph.locator('[data-step="charge"]');
  await expect(charge).toHaveAttribute('data-status', 'completed');
  const next = step.getByRole('button', { name: 'Next failed item' });
  await next.focus();
  await member.keyboard.press('Enter');
  await expect(step.getByText('10 of 30')).toBeVisible();
  await expect(graph.getByText('10 of 30')).toBeVisible();
  await expect(charge).toHaveAttribute('data-status', 'failed');
  await step.getByRole('button', { name: /^Charge the card/ }).press('Enter');
  await expect(step.getByRole('alert')).toContainText('card declined');
  await expect(member).toHaveURL(/step=each\.9\.charge/);
  await next.click();
  await expect(step.getByText('20 of 30')).toBeVisible();
  await expect(step.getByRole('alert')).toContainText('card declined');
  await step.getByRole('button', { name: 'Next item' }).click();
  await expect(step.getByText('21 of 30')).toBeVisible();
  await expect(step.getByRole('alert')).toHaveCount(0);
  await graph.getByRole('button', { name: 'Next failed item' }).click();
  await expect(step.getByText('30 of 30')).toBeVisible();
  await charge.click();
  await expect(member).toHaveURL(/step=each\.29\.charge/);
  await expectAccessible(member);
  await graph.getByRole('button', { name: 'Steps of Each order' }).press('Enter');
  await expect(charge).toHaveCount(0);
});

test('two runs of an open loop are compared item by item @phone', async ({ member, api }) => {
  const charge = lua('charge', 'if item == {{input.bad}} then error("card declined") end return item * 2', {
    name: 'Charge the card',
  });
  const ship = lua('ship', 'return 1', { name: 'Ship it', depends_on: ['charge'] });
  const own = lua('done', 'return 1', { depends_on: ['each'] });
  const id = await publish(api, 'Compared loops', [{ ...loop, steps: [charge, ship] }, own]);
  const path = await run(api, id, { bad: 3 });
  const other = (await run(api, id, { bad: 0 })).replace(/.*\//, '');
  await member.goto(`${path}?tab=compare&with=${other}`);
  const here = member.getByRole('region', { name: 'Graph of this run' });
  const there = member.getByRole('region', { name: 'Graph of the other run' });
  const chargeOf = (graph: typeof here) => graph.locator('[data-step="charge"]');
  const outcomes = member.getByRole('region', { name: 'Steps of both runs' });
  // The first item ended the same way; the loop did not.
  await expect(outcomes.getByRole('row', { name: /^Each order/ })).toContainText('30 items, 1 failed');
  await expect(outcomes).toContainText('1 of 4 steps ended differently.');
  for (const graph of [here, there]) {
    await expect(chargeOf(graph)).toHaveAttribute('data-status', 'completed');
    await expect(chargeOf(graph)).not.toContainText('≠');
    await expect(graph.locator('[data-step="each"]')).toContainText('≠');
  }
  // One switcher chooses the item in both graphs.
  const items = member.getByRole('list', { name: 'Items of both runs' });
  await items.getByRole('button', { name: 'Next failed item' }).click();
  await expect(items.getByText('3 of 30')).toBeVisible();
  for (const graph of [here, there]) {
    await expect(chargeOf(graph)).toContainText('≠');
    await expect(graph.locator('[data-step="done"]')).not.toContainText('≠');
  }
  await expect(chargeOf(here)).toHaveAttribute('data-status', 'failed');
  await expect(chargeOf(there)).toHaveAttribute('data-status', 'completed');
  const row = outcomes.getByRole('row', { name: /^Charge the card, item 3/ });
  await expect(row).toContainText('Failed');
  await expect(row).toContainText('Success');
  await expect(outcomes.getByRole('row', { name: /^Ship it, item 3/ })).toContainText('Skipped');
  await row.getByRole('button').press('Enter');
  await expect(member).toHaveURL(/step=each\.2\.charge/);
  await expect(member.getByText('This run has no result for this step.')).toBeVisible();
  await expect(member.getByRole('region', { name: 'Result in the other run' })).toContainText('6');
  await expectThemesAccessible(member);
  // The loop is closed in both.
  await there.getByRole('button', { name: 'Steps of Each order' }).press('Enter');
  for (const graph of [here, there]) await expect(chargeOf(graph)).toHaveCount(0);
});

test('the timeline has a scale, is zoomed by mouse and keyboard, and expands loops', async ({ member, api }) => {
  const path = await run(
    api,
    await publish(api, 'Timed', [lua('first', 'return 1'), { ...loop, items: itemsOf(120), depends_on: ['first'] }]),
  );
  await member.goto(`${path}?tab=timeline`);
  const axis = member.locator('[data-axis]');
  await expect(axis).toContainText('0');
  const box = await axis.boundingBox();
  if (box === null) throw new Error('The axis is not drawn.');
  await member.mouse.move(box.x + box.width * 0.25, box.y + 10);
  await member.mouse.down();
  await member.mouse.move(box.x + box.width * 0.75, box.y + 10, { steps: 4 });
  await member.mouse.up();
  await expect(member).toHaveURL(/zoom=0\.2/);
  await member.getByRole('button', { name: 'Show all' }).click();
  await expect(member).not.toHaveURL(/zoom=/);
  const timeline = member.getByRole('region', { name: 'Timeline' });
  const row = timeline.getByRole('button', { name: /^Each order: / });
  await row.focus();
  await member.keyboard.press('+');
  await expect(member).toHaveURL(/zoom=0\.25-0\.75/);
  await member.keyboard.press('ArrowRight');
  await expect(member).toHaveURL(/zoom=0\.375-0\.875/);
  await member.keyboard.press('0');
  await expect(member).not.toHaveURL(/zoom=/);
  await timeline.getByRole('button', { name: 'Items of each' }).press('Enter');
  await expect(timeline.getByRole('button', { name: /^Item 1: Success/ })).toBeVisible();
  await expect(timeline.getByRole('button', { name: /^Charge the card: Success/ }).first()).toBeVisible();
  await timeline.getByRole('button', { name: 'Next 100 items' }).click();
  await expect(timeline.getByRole('button', { name: /^Item 101: Success/ })).toBeVisible();
  await expect(member).toHaveURL(/items=each(@|%40)100/);
  await expect(timeline.getByText('12 failed')).toBeVisible();
  await timeline.getByRole('button', { name: 'Previous failed item' }).click();
  const failed = timeline.getByRole('button', { name: /^Item 100: Failed/ });
  await expect(failed).toHaveAttribute('aria-pressed', 'true');
  await expect(failed).toBeInViewport();
  await expectThemesAccessible(member);
});

test('the data of an event shows names in place of step and workflow ids', async ({ member, api }) => {
  const called = await publish(api, 'Print the invoice', [lua('print', 'return 1')]);
  const call = { id: 'call', type: 'call_workflow', workflow_id: called };
  const check = lua('check', 'error("too much")', { name: 'Check the total', depends_on: ['call'] });
  const path = await run(api, await publish(api, 'Named', [call, check]));
  const { events: all } = await api.call('GET', `/v1${path}/events`);
  for (const [type, name] of [
    ['child_called', 'Print the invoice'],
    ['state_changed', 'Check the total'],
  ] as const) {
    const seq = (all as { seq: number; event_type: string }[]).findLast(({ event_type }) => event_type === type)?.seq;
    await member.goto(`${path}?tab=events&event=${seq}`);
    await expect(member.getByRole('region', { name: `Event ${seq}`, exact: true }).getByText(name)).toBeVisible();
  }
});

test('events are shown as sentences, searched, and downloaded', async ({ member, api }) => {
  const path = await run(api, await publish(api, 'Told', [lua('first', 'return { code = "K-17" }'), loop]));
  await member.goto(`${path}?tab=events`);
  // The option is in the URL, which changes a moment later.
  const compact = member.getByRole('checkbox', { name: 'Compact' });
  await compact.click();
  await expect(compact).toBeChecked();
  const events = member.getByRole('region', { name: 'Events' });
  await expect(events.getByText(/^Started by /)).toBeVisible();
  await expect(events.getByText(/^Succeeded after /).first()).toBeVisible();
  await expectAccessible(member);
  await compact.click();
  await expect(compact).not.toBeChecked();
  const search = member.getByRole('searchbox', { name: 'Search events' });
  await search.fill('CARD DECLINED');
  await expect(member.getByText(/^3 of \d+ events$/)).toBeVisible();
  await search.fill('k-17');
  await expect(member.getByText(/^1 of \d+ events$/)).toBeVisible();
  for (const [item, lines] of [
    ['NDJSON: one event a line', (text: string) => text.trim().split('\n')],
    ['JSON: one list of all events', (text: string) => JSON.parse(text) as unknown[]],
  ] as const) {
    const file = member.waitForEvent('download');
    await member.getByRole('button', { name: 'Download' }).click();
    await member.getByRole('menuitem', { name: item }).click();
    const all = lines(await readFile(await (await file).path(), 'utf8'));
    const { last_seq } = await api.call('GET', `/v1${path}/snapshot`);
    expect(all).toHaveLength(Number(last_seq));
  }
});

test('selected runs are run again, and all matching runs are continued with the latest version @phone', async ({
  member,
  api,
}) => {
  const id = await publish(api, 'Nightly', [lua('a', 'return 1'), lua('b', 'error("no")', { depends_on: ['a'] })]);
  for (let count = 0; count < 3; count += 1) await run(api, id);
  await member.goto('/runs?q=Nightly');
  const boxes = member.getByRole('checkbox', { name: /^Select run / });
  await expect(boxes).toHaveCount(3);
  await boxes.first().focus();
  await member.keyboard.press('Space');
  const bar = member.getByRole('region', { name: 'Selected runs' });
  await expect(bar).toContainText('1 selected');
  await bar.getByRole('button', { name: 'Run again' }).press('Enter');
  const again = member.getByRole('alertdialog', { name: 'Run again?' });
  await expect(again).toContainText('1 of the 1 selected runs has ended.');
  await expectAccessible(member);
  await again.getByRole('button', { name: 'Run again' }).press('Enter');
  await expect(again).toHaveCount(0);
  await expect(member.getByRole('list', { name: 'Bulk actions' })).toContainText('Started again: 1 of 1');
  await expect(boxes).toHaveCount(4);
  await api.call('POST', `/v1/workflows/${id}/edits`, {
    edits: [{ type: 'update_step', step: 'b', set: { script: 'return 2' } }],
  });
  await api.call('POST', `/v1/workflows/${id}/versions`, {});
  await boxes.nth(1).check();
  await bar.getByRole('button', { name: 'Select all 4 that match' }).click();
  await expect(bar).toContainText('All 4 that match');
  await bar.getByRole('button', { name: 'Continue from the failing step' }).click();
  const dialog = member.getByRole('alertdialog', { name: 'Continue failed runs?' });
  // One of the four failed runs has been repeated already.
  await expect(dialog).toContainText('3 runs that match have failed.');
  await dialog.getByRole('checkbox', { name: 'With the latest version' }).check();
  await dialog.getByRole('button', { name: 'Continue from the failing step' }).click();
  await expect(member.getByRole('list', { name: 'Bulk actions' })).toContainText('Continued: 3 of 3');
  await expect(member.getByText('Completed', { exact: true })).toHaveCount(3);
  await expectAccessible(member);
});
