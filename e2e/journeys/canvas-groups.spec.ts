import type { Page } from '@playwright/test';
import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';

const canvasOf = (page: Page) => page.getByRole('region', { name: 'Graph of the draft' });
const nodeOf = (page: Page, node: string) => canvasOf(page).locator(`.react-flow__node[data-id="${node}"]`);
const sideOf = (page: Page) => page.getByRole('region', { name: 'Step and JSON' });
const lua = (id: string, ...depends_on: string[]) => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...(depends_on.length > 0 ? { depends_on } : {}),
});
type StoredStep = { id: string; type: string; depends_on?: string[]; steps?: StoredStep[] };

test('the steps of an open loop are edited inside it, by mouse and by keyboard', async ({ member, api }) => {
  const each = { id: 'each', type: 'for_each', items: '[1]', steps: [lua('x')], depends_on: ['a'] };
  const graph = { steps: [lua('a'), each, lua('b', 'each')] };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Containers', graph });
  const inner = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { steps: StoredStep[] }).steps.find(step => step.id === 'each')?.steps?.map(step => step.id);
  };
  await open(member, `/workflows/${String(id)}`);
  const { keyboard } = member;
  const canvas = canvasOf(member);

  // A click selects a step in the loop and opens the form of that step.
  await nodeOf(member, 'each.x').click();
  await expect(nodeOf(member, 'each.x')).toBeFocused();
  await expect(member).toHaveURL(/inside=each/);
  await sideOf(member).getByRole('textbox', { name: 'Name' }).fill('Inner');
  await expect(nodeOf(member, 'each.x')).toContainText('Inner');

  // Tab adds a step after the selected one, inside the loop.
  await nodeOf(member, 'each.x').click();
  await keyboard.press('Tab');
  await expect(member.getByPlaceholder('Step after Inner …')).toBeFocused();
  await keyboard.insertText('Human task');
  await expect(member.getByRole('option', { name: /Human task/ })).toHaveAttribute('data-selected', 'true');
  await keyboard.press('Enter');
  await expect(nodeOf(member, 'each.human_task')).toBeFocused();
  await expect.poll(inner).toEqual(['x', 'human_task']);
  await expectThemesAccessible(member);

  // Escape selects the loop, O closes and opens it, and Shift+Enter selects its steps again.
  await keyboard.press('Escape');
  await expect(nodeOf(member, 'each')).toBeFocused();
  await keyboard.press('o');
  await expect(nodeOf(member, 'each.x')).toHaveCount(0);
  await member.reload();
  await expect(nodeOf(member, 'each')).toBeVisible();
  await expect(nodeOf(member, 'each.x')).toHaveCount(0);
  await nodeOf(member, 'each').click();
  await expect(nodeOf(member, 'each')).toBeFocused();
  await keyboard.press('Shift+Enter');
  await expect(nodeOf(member, 'each.x')).toBeFocused();
  await keyboard.press('ArrowDown');
  await expect(nodeOf(member, 'each.human_task')).toBeFocused();
  await keyboard.press('Delete');
  await expect.poll(inner).toEqual(['x']);
  await canvas.getByRole('button', { name: 'Undo' }).click();
  await expect(nodeOf(member, 'each.human_task')).toBeVisible();
  await expect.poll(inner).toEqual(['x', 'human_task']);

  // The search finds a step in a closed loop, names the loop, and opens it.
  await canvas.getByRole('button', { name: 'Steps of each' }).click();
  await expect(nodeOf(member, 'each.x')).toHaveCount(0);
  await nodeOf(member, 'b').click();
  await expect(nodeOf(member, 'b')).toBeFocused();
  await keyboard.press('ControlOrMeta+f');
  const search = canvas.getByRole('textbox', { name: 'Search steps' });
  await search.fill('inner');
  await expect(canvas.getByRole('list', { name: 'Found steps' }).getByRole('listitem')).toHaveText(['Innerin each']);
  await search.press('Enter');
  await expect(nodeOf(member, 'each.x')).toHaveClass(/selected/);
  await expect(member).toHaveURL(/inside=each/);
});

test('selected steps are grouped into a loop, extracted into a workflow, and inlined again', async ({
  member,
  api,
}) => {
  const humanTask = (id: string, instructions: string, after: string) => ({
    id,
    type: 'human_task',
    instructions,
    depends_on: [after],
  });
  const steps = [
    lua('load'),
    lua('price', 'load'),
    humanTask('check', 'Is {{steps.price.result.net}} right?', 'price'),
  ];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Regroup', graph: { steps } });
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return (graph as { steps: StoredStep[] }).steps;
  };
  await open(member, `/workflows/${String(id)}`);
  const { keyboard } = member;
  const canvas = canvasOf(member);

  // By keyboard: the arrow keys select several steps, L groups them, and one undo reverses it.
  await nodeOf(member, 'load').click();
  await expect(nodeOf(member, 'load')).toBeFocused();
  await keyboard.press('Shift+ArrowDown');
  await expect(nodeOf(member, 'price')).toBeFocused();
  await expect(canvas.getByRole('toolbar', { name: 'Selection' })).toContainText('2 steps');
  await keyboard.press('l');
  await expect(nodeOf(member, 'for_each.price')).toBeVisible();
  await expect(nodeOf(member, 'for_each')).toBeFocused();
  await expect
    .poll(stored)
    .toEqual([
      { id: 'for_each', type: 'for_each', items: '[1]', steps: [lua('load'), lua('price', 'load')] },
      humanTask('check', 'Is {{steps.for_each.result.results[0].net}} right?', 'for_each'),
    ]);
  await keyboard.press('ControlOrMeta+z');
  await expect.poll(stored).toEqual(steps);
  await keyboard.press('ControlOrMeta+Shift+z');
  await expect(nodeOf(member, 'for_each.load')).toBeVisible();

  // By mouse: the menu of the loop dissolves it.
  await nodeOf(member, 'for_each').getByText('for_each').click({ button: 'right' });
  await member.getByRole('menuitem', { name: 'Ungroup the loop' }).click();
  await expect.poll(stored).toEqual(steps);

  // Grouping two steps is refused if another step runs between them, and changes nothing.
  await nodeOf(member, 'load').click();
  await nodeOf(member, 'check').click({ modifiers: ['Shift'] });
  await canvas.getByRole('button', { name: 'Group into a loop' }).click();
  await expect(member.getByText('“price” runs between the selected steps.')).toBeVisible();

  // Extraction publishes a workflow with the steps and calls it from one step; inlining replaces that step by the steps again.
  await nodeOf(member, 'price').click();
  await expect(nodeOf(member, 'price')).toBeFocused();
  await keyboard.press('x');
  const dialog = member.getByRole('dialog', { name: 'Extract a sub-workflow' });
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await keyboard.press('ControlOrMeta+a');
  await keyboard.insertText('Price check');
  await expectThemesAccessible(member);
  await keyboard.press('Enter');
  await expect(nodeOf(member, 'call_workflow')).toContainText('Price check');
  await expect(nodeOf(member, 'call_workflow')).toBeFocused();
  await expect
    .poll(async () => (await stored())[2])
    .toMatchObject({
      id: 'check',
      instructions: 'Is {{steps.call_workflow.result.price.net}} right?',
      depends_on: ['call_workflow'],
    });
  await expect(member.getByRole('region', { name: 'Problems' })).toContainText('No problems');
  await keyboard.press('x');
  await expect(member.getByRole('button', { name: 'Replace', exact: true })).toBeVisible();
  await member.getByRole('button', { name: 'Replace', exact: true }).press('Enter');
  await expect.poll(stored).toEqual(steps);
});

test('the start dialog shows the triggers of a workflow, and the commands that schedule it', async ({
  member,
  api,
}) => {
  const graph = { steps: [lua('a'), lua('b')] };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Night\'s "run"', graph });
  await open(member, `/workflows/${String(id)}`);
  const { keyboard } = member;
  const canvas = canvasOf(member);
  await expect(canvas.getByRole('button', { name: 'How it starts' })).toBeVisible();
  await canvas.getByRole('button', { name: 'How it starts' }).click();
  const dialog = member.getByRole('dialog', { name: 'How it starts' });
  await expect(dialog).toContainText('No webhook starts it yet.');
  await keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);

  // By keyboard: a new key appears in the commands immediately; it can only start runs.
  await nodeOf(member, 'a').click();
  await expect(nodeOf(member, 'a')).toBeFocused();
  await keyboard.press('s');
  await dialog.getByRole('tab', { name: 'Schedule' }).click();
  const lines = dialog.getByRole('region', { name: 'Lines for crontab' });
  await expect(lines).toContainText('REPLACE_WITH_AN_API_KEY');
  await expect(lines).toContainText(`0 9 * * * curl`);
  await expect(lines).toContainText(`/v1/workflows/${String(id)}/command`);
  await dialog.getByLabel('Time (UTC)').fill('06:30');
  await expect(lines).toContainText('30 6 * * * curl');
  await dialog.getByRole('button', { name: 'Create an API key' }).press('Enter');
  await expect(lines).toContainText('BATON_TOKEN=pat_');
  await expectThemesAccessible(member);
  await dialog.getByRole('tab', { name: 'Kubernetes' }).click();
  await expect(dialog.getByRole('region', { name: 'Lines for Kubernetes' })).toContainText('kind: CronJob');
  const { pats } = await api.call('GET', '/v1/pats');
  const made = (pats as { display_name: string; scopes: string[] }[]).find(({ display_name }) =>
    display_name.startsWith('Schedule:'),
  );
  expect(made?.scopes).toEqual(['workflow:run']);
});
