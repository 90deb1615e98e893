import type { Locator, Page } from '@playwright/test';
import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';

const canvasOf = (page: Page) => page.getByRole('region', { name: 'Graph of the draft' });
const stepOf = (page: Page, id: string) => canvasOf(page).locator(`[data-step="${id}"]`);
const nodeOf = (page: Page, id: string) => canvasOf(page).locator(`.react-flow__node[data-id="${id}"]`);
const lua = (id: string, ...depends_on: string[]) => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...(depends_on.length > 0 ? { depends_on } : {}),
});
type StoredStep = { id: string; depends_on?: string[]; then?: string[]; else?: string[]; position?: unknown };

async function middleOf(target: Locator): Promise<{ x: number; y: number }> {
  const box = await target.boundingBox();
  if (box === null) throw new Error(`${target} is not drawn.`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Drags in small steps, like a person. `dragTo` jumps, and waits forever if another element covers the middle of a handle. */
async function drag(page: Page, from: Locator, to: { x: number; y: number }): Promise<void> {
  const start = await middleOf(from);
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(start.x + 8, start.y + 8, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 12 });
  await page.mouse.up();
}

/** Clicks a step and waits until the canvas handles keys for it. */
async function select(page: Page, id: string): Promise<void> {
  await stepOf(page, id).click();
  await expect(nodeOf(page, id)).toHaveClass(/selected/);
  await expect(nodeOf(page, id)).toBeFocused();
}

test('steps are inserted, connected, removed, copied and searched, and every change can be undone', async ({
  member,
  api,
}) => {
  const graph = { steps: [lua('a'), lua('b', 'a'), lua('c', 'b')] };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Canvas', graph });
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { steps: StoredStep[] }).steps;
  };
  const edges = async () => (await stored()).flatMap(step => (step.depends_on ?? []).map(from => `${from}→${step.id}`));
  await open(member, `/workflows/${String(id)}`);
  const canvas = canvasOf(member);
  const { keyboard } = member;

  // The buttons of a connection are visible while the pointer is on it, and are placed below the “+” of the step.
  const insert = canvas.getByRole('button', { name: 'Insert a step between a and b' });
  await expect(stepOf(member, 'a')).toBeVisible();
  await expect(insert).toHaveCount(0);
  const line = canvas.locator('.react-flow__edge[data-id="a→b"] .react-flow__edge-interaction');
  await expect(async () => {
    const { x, y } = await middleOf(line);
    await member.mouse.move(x, y + 6);
    await member.mouse.move(x, y + 10);
    await expect(insert).toBeVisible({ timeout: 1_000 });
  }).toPass({ timeout: 30_000 });
  await insert.click();
  await member.getByRole('option', { name: /Condition/ }).click();
  await expect(stepOf(member, 'condition')).toBeVisible();
  await expect.poll(edges).toEqual(['a→condition', 'condition→b', 'b→c']);

  await select(member, 'b');
  await keyboard.press('Delete');
  await expect(stepOf(member, 'b')).toHaveCount(0);
  await expect.poll(edges).toEqual(['a→condition', 'condition→c']);
  await canvas.getByRole('button', { name: 'Undo' }).click();
  await expect(stepOf(member, 'b')).toBeVisible();
  await expect.poll(edges).toEqual(['a→condition', 'condition→b', 'b→c']);

  const handle = (step: string, kind: 'source' | 'target') =>
    nodeOf(member, step).locator(`.react-flow__handle.${kind}`).first();
  await drag(member, handle('a', 'source'), await middleOf(handle('c', 'target')));
  await expect.poll(edges).toContain('a→c');

  await select(member, 'c');
  await keyboard.press('ControlOrMeta+d');
  await expect(nodeOf(member, 'c_2')).toBeFocused();
  await keyboard.press('d');
  await expect(stepOf(member, 'c_2')).toContainText('Disabled');
  const undo = canvas.getByRole('button', { name: 'Undo' });
  await undo.click();
  await expect(stepOf(member, 'c_2')).not.toContainText('Disabled');
  await undo.click();
  await expect(stepOf(member, 'c_2')).toHaveCount(0);
  await canvas.getByRole('button', { name: 'Redo' }).click();
  await expect(stepOf(member, 'c_2')).toBeVisible();

  await select(member, 'c_2');
  await keyboard.press('ControlOrMeta+f');
  const search = canvas.getByRole('textbox', { name: 'Search steps' });
  await expect(search).toBeFocused();
  await search.fill('cond');
  await expect(canvas.getByRole('status')).toHaveText('1');
  await search.press('Enter');
  await expect(canvas.getByRole('status')).toHaveText('1 of 1');
  await expect(member).toHaveURL(/step=condition/);
});

test('a step type can be dragged to a position, and the branches of a condition are drawn in order', async ({
  member,
  api,
}) => {
  const steps = [
    lua('no', 'check'),
    lua('yes', 'check'),
    { id: 'check', type: 'condition', expression: 'true', then: ['yes'], else: ['no'] },
  ];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Branches', graph: { steps } });
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { steps: StoredStep[] }).steps;
  };
  await open(member, `/workflows/${String(id)}?step=check`);
  const canvas = canvasOf(member);
  await expect(stepOf(member, 'check')).toBeVisible();
  const [yes, no] = [await middleOf(stepOf(member, 'yes')), await middleOf(stepOf(member, 'no'))];
  expect(yes.x).toBeLessThan(no.x);
  // Neither label is under the “+” of the selected condition.
  for (const branch of ['then', 'else']) {
    const label = canvas.locator('.react-flow__edgelabel-renderer').getByText(branch, { exact: true });
    const isOnTop = () =>
      label.evaluate(own => {
        const { left, top, width, height } = own.getBoundingClientRect();
        return own === document.elementFromPoint(left + width / 2, top + height / 2);
      });
    await expect.poll(isOnTop).toBe(true);
  }

  const box = await canvas.boundingBox();
  if (box === null) throw new Error('The canvas is not drawn.');
  await canvas.getByRole('button', { name: 'Add step' }).click();
  const palette = canvas.getByRole('dialog', { name: 'Add a step' });
  await drag(member, palette.getByRole('option', { name: 'Human task' }), { x: box.x + 430, y: box.y + 420 });
  await expect(palette).toHaveCount(0);
  await expect(stepOf(member, 'human_task')).toBeVisible();
  await expect.poll(async () => (await stored()).every(step => 'position' in step)).toBe(true);
});

test('the steps of a loop are edited on a separate canvas, with one undo history for both', async ({ member, api }) => {
  const each = {
    id: 'each',
    type: 'for_each',
    items: '{{input.orders}}',
    steps: [lua('x')],
    depends_on: ['human_task'],
  };
  const first = { id: 'human_task', type: 'human_task', instructions: '' };
  const { id } = await api.call('POST', '/v1/workflows', {
    name: 'Loop',
    graph: { steps: [first, each] },
    run_setup: { trigger_payload: { orders: [{ sku: 'a' }] } },
  });
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { steps: unknown[] }).steps[1];
  };
  await open(member, `/workflows/${String(id)}?step=each`);
  const canvas = canvasOf(member);
  const form = member.getByRole('region', { name: 'Step and JSON' });
  const { keyboard } = member;
  await form.getByRole('button', { name: 'Edit steps' }).click();
  await expect(member).toHaveURL(/loop=each/);
  await expect(stepOf(member, 'x')).toBeVisible();
  await expect(canvas).toBeFocused();

  // A new step in the loop gets an ID that no step outside the loop has.
  await keyboard.press('Tab');
  await expect(member.getByPlaceholder('Step or tool …')).toBeFocused();
  await keyboard.insertText('Human task');
  await expect(member.getByRole('option', { name: /Human task/ })).toHaveAttribute('data-selected', 'true');
  await keyboard.press('Enter');
  await expect(nodeOf(member, 'human_task_2')).toBeFocused();
  const added = { id: 'human_task_2', type: 'human_task', instructions: '' };
  const two = { ...each, steps: [lua('x'), added] };
  await expect.poll(stored).toEqual(two);

  await member.getByRole('navigation', { name: 'Loops' }).getByRole('button', { name: 'Draft' }).click();
  await expect(nodeOf(member, 'each')).toBeFocused();
  await expect(stepOf(member, 'each')).toContainText('2 steps');
  await canvas.getByRole('button', { name: 'Undo' }).click();
  await expect(stepOf(member, 'each')).toContainText('1 step');
  await expect.poll(stored).toEqual(each);
  await canvas.getByRole('button', { name: 'Redo' }).click();
  await expect.poll(stored).toEqual(two);
  await member.goBack();
  await expect(nodeOf(member, 'human_task_2')).toBeFocused();

  // The form completes the fields of the item, and reports problems like the form of any step.
  const instructions = form.getByRole('textbox', { name: 'Instructions' });
  await instructions.focus();
  await expect(instructions).toBeFocused();
  await keyboard.insertText('Check {{item.');
  const sku = member.getByRole('listbox', { name: 'Completions' }).getByRole('option', { name: 'sku' });
  // CodeMirror ignores a click while it recomputes the completions.
  const completed = async () => (await instructions.textContent()) === 'Check {{item.sku';
  await expect(async () => {
    if (!(await completed())) await sku.click({ timeout: 2_000 });
    expect(await completed()).toBe(true);
  }).toPass({ timeout: 30_000 });
  const problems = member.getByRole('region', { name: 'Problems' });
  await expect(problems).toContainText('each › human_task_2 › instructions');
  await expect(nodeOf(member, 'human_task_2')).toContainText('1 problem');
  await expectThemesAccessible(member);
  await instructions.focus();
  await expect(instructions).toBeFocused();
  await keyboard.insertText('}}?');
  await expect(problems).toContainText('can be published');
  await expect.poll(stored).toEqual({ ...each, steps: [lua('x'), { ...added, instructions: 'Check {{item.sku}}?' }] });
});

test('when a workflow opens, the toolbars cover no step and the title of an open loop is visible @phone', async ({
  member,
  api,
}) => {
  const each = { id: 'each', type: 'for_each', items: '[1]', steps: [lua('x'), lua('y')], depends_on: ['a'] };
  const graph = { steps: [lua('a'), each] };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Covered', graph });
  await open(member, `/workflows/${String(id)}`);
  await expect(stepOf(member, 'a')).toBeVisible();
  const toolbars = canvasOf(member).locator('[data-over-canvas] > *');
  await expect(toolbars.first()).toBeVisible();
  // An element that appears above the canvas moves all of its steps, which must not happen between two measurements.
  await expect(async () => {
    const first = await stepOf(member, 'a').boundingBox();
    for (const toolbar of await toolbars.all()) {
      const box = await toolbar.boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(first?.y ?? 0);
    }
  }).toPass({ timeout: 30_000 });
  // The loop is wider than a phone's screen.
  await expect(stepOf(member, 'each').getByText('each', { exact: true })).toBeInViewport({ ratio: 1 });
  await expect(canvasOf(member).getByRole('button', { name: 'Steps of each' })).toBeInViewport({ ratio: 1 });
});

test('a worker lays out a graph of 100 steps, and again after a step was added', async ({ member, api }) => {
  const steps = Array.from({ length: 100 }, (_, at) => lua(`s${at}`, ...(at < 10 ? [] : [`s${at - 10}`])));
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Wide', graph: { steps } });
  const worker = member.waitForEvent('worker');
  await open(member, `/workflows/${String(id)}?step=s0`);
  expect((await worker).url()).toContain('/_next/static/');
  await expect(nodeOf(member, 's0')).toBeVisible();
  const [first, second] = [await middleOf(stepOf(member, 's0')), await middleOf(stepOf(member, 's10'))];
  expect(second.y).toBeGreaterThan(first.y);
  await select(member, 's0');
  await member.keyboard.press('ControlOrMeta+d');
  await expect(nodeOf(member, 's0_2')).toBeFocused();
});

test('an added step fades in unless reduced motion is requested; existing steps do not', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', {
    name: 'Fading',
    graph: { steps: [lua('a'), lua('b', 'a')] },
  });
  await member.emulateMedia({ reducedMotion: 'no-preference' });
  await open(member, `/workflows/${String(id)}`);
  const expectFade = (step: string) => expect(nodeOf(member, step)).toHaveCSS('animation-name', 'enter');
  const expectNoFade = (step: string) => expect(nodeOf(member, step)).toHaveCSS('animation-name', 'none');
  await select(member, 'b');
  await expectNoFade('a');
  await expectNoFade('b');
  await member.keyboard.press('ControlOrMeta+d');
  await expect(nodeOf(member, 'b_2')).toBeFocused();
  await expectFade('b_2');
  await expect(nodeOf(member, 'b_2')).toHaveCSS('animation-duration', '0.15s');
  await expectNoFade('b');
  await member.emulateMedia({ reducedMotion: 'reduce' });
  await expectNoFade('b_2');
});
