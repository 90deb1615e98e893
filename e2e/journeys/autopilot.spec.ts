import { addModel, expect, test } from '../fixtures/agents.ts';
import { expectThemesAccessible, open } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';

const lua = (id: string, script: string, ...depends_on: string[]) => ({ id, type: 'lua_script', script, depends_on });

test('a proposal is shown on the graph, tested, tested live, partly applied, and undone after a manual edit', async ({
  member,
  api,
}) => {
  const graph = { steps: [lua('price', 'return { net = 10 }'), lua('old', 'return 1', 'price')] };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Invoice total', graph });
  const propose = (title: string, edits: object[]) =>
    api.call('POST', '/v1/autopilot/proposals', { workflow_id: id, title, edits });
  const proposed = await propose('Add the tax', [
    { type: 'update_step', step: 'price', set: { script: 'return { net = 20 }' } },
    { type: 'add_step', step: lua('tax', 'return { sum = steps.price.result.net * 1.5 }', 'price') },
    { type: 'add_step', step: { ...lua('report', 'return steps.tax.result.sum', 'tax'), name: 'Report the sum' } },
    { type: 'add_step', step: { id: 'ask', type: 'human_task', instructions: 'Send it?', depends_on: ['tax'] } },
    { type: 'remove_step', step: 'old', heal: true },
  ]);
  await open(member, `/workflows/${String(id)}`);
  await member.getByRole('toolbar', { name: 'Edit' }).getByRole('button', { name: 'Autopilot' }).click();
  const panel = member.getByRole('tabpanel', { name: 'Autopilot', exact: true });
  await expectThemesAccessible(member);
  await panel.getByRole('tab', { name: 'Proposals' }).click();
  await panel.getByRole('button', { name: /Add the tax.*Ready/ }).click();

  const ghosts = member.getByRole('region', { name: 'Graph of the proposal' });
  await expect(ghosts.locator('[data-step="tax"]')).toContainText('Added');
  await expect(ghosts.locator('[data-step="price"]')).toContainText('Changed');
  await expect(ghosts.locator('[data-step="old"]')).toContainText('Removed');
  await ghosts.locator('[data-step="tax"]').click();
  await expect(member).toHaveURL(/step=tax/);

  await panel.getByRole('button', { name: 'Try', exact: true }).click();
  await panel.getByRole('button', { name: 'Add a check' }).click();
  await panel.getByRole('combobox', { name: 'Step of check 5' }).click();
  await member.getByRole('option', { name: 'Report the sum' }).click();
  await panel.getByRole('textbox', { name: 'Value of check 5' }).fill('30');
  await panel.getByRole('button', { name: 'Start the trial' }).click();
  const trial = panel.getByRole('region', { name: 'Trial' });
  await expect(trial.getByRole('status')).toContainText('Simulated');
  await expect(panel.getByRole('list', { name: 'Checks' })).toContainText('Report the sum equals 30');
  await expectThemesAccessible(member);

  await trial.getByRole('button', { name: 'Try for real…' }).click();
  const forReal = trial.getByRole('form', { name: 'Try for real' });
  await expect(forReal).toContainText('Asks: Send it?');
  await expect(forReal.getByRole('button', { name: 'Execute for real' })).toBeDisabled();
  await expect(forReal.getByRole('textbox', { name: 'Value of check 5' })).toHaveValue('30');
  await forReal.getByRole('checkbox', { name: 'ask asks a person' }).click();
  await forReal.getByRole('spinbutton', { name: 'Budget in credits' }).fill('2');
  await expectThemesAccessible(member);
  await forReal.getByRole('button', { name: 'Execute 1 step for real' }).click();
  await expect(trial.getByRole('status')).toContainText('For real');
  const { workflow_id, run_id } = await api.call('GET', `/v1/autopilot/proposals/${String(proposed.id)}/trial`);
  const tasks = `/v1/workflows/${String(workflow_id)}/runs/${String(run_id)}/tasks`;
  await expect.poll(async () => (await api.call('GET', `${tasks}/pending`)).tasks).toHaveLength(1);
  await api.call('POST', `${tasks}/ask/complete`, { approved: true });
  await expect(trial.getByRole('status')).toContainText('Proven');
  await expect(trial).toContainText('Executed for real: ask.');

  await panel.getByRole('checkbox', { name: 'Apply price' }).click();
  await panel.getByRole('checkbox', { name: 'Apply old' }).click();
  await panel.getByRole('checkbox', { name: 'Apply ask' }).click();
  await panel.getByRole('checkbox', { name: 'Apply tax' }).click();
  await expect(panel.getByRole('checkbox', { name: 'Apply tax' })).toBeChecked();
  await panel.getByRole('button', { name: 'Apply 2 steps' }).click();
  const draft = member.getByRole('region', { name: 'Graph of the draft' });
  await expect(draft.locator('[data-step="report"]')).toBeVisible();
  await expect(draft.locator('[data-step="old"]')).toBeVisible();

  await draft.locator('[data-step="price"]').dblclick();
  await replaceText(member.getByRole('textbox', { name: 'Script' }), 'return { net = 99 }');
  await expect(member.getByText('Saved', { exact: true })).toBeVisible();
  await member.getByRole('tab', { name: 'Autopilot', exact: true }).click();
  await panel.getByRole('button', { name: 'Undo the proposal' }).click();
  await expect(draft.locator('[data-step="tax"]')).toHaveCount(0);
  const { graph: left } = await api.call('GET', `/v1/workflows/${String(id)}`);
  expect(left).toEqual({
    steps: [
      expect.objectContaining({ id: 'price', script: 'return { net = 99 }' }),
      expect.objectContaining({ id: 'old' }),
    ],
  });
});

test('Autopilot builds a workflow from a message and explains a failed run', async ({ member, api, model }) => {
  await addModel(api, model);
  const name = { type: 'set_details', name: 'Sum of an order' };
  const sum = { type: 'add_step', step: lua('sum', 'return 1 + input.missing') };
  model.script({
    answers: [
      {
        match: { last: 'Add up' },
        content: [{ calls: [{ name: 'autopilot_propose', arguments: { title: 'A sum', edits: [name, sum] } }] }],
      },
      { match: { last: 'Why did this run fail' }, content: [{ text: 'The input has no number.' }] },
      { content: [{ text: 'I have proposed it.' }] },
    ],
  });
  await open(member, '/chat/new?agent=autopilot');
  await member.getByRole('textbox', { name: 'Message', exact: true }).fill('Add up an order');
  await member.keyboard.press('Enter');
  const answers = member.getByRole('article', { name: 'Answer', exact: true });
  await expect(answers).toContainText('I have proposed it.');
  await expect(member.getByText(/^So far: [1-9]/)).toBeVisible();
  await expectThemesAccessible(member);
  await answers.getByRole('link', { name: 'Proposal: A sum' }).click();

  await expect(member.getByRole('heading', { level: 1, name: 'A sum' })).toBeVisible();
  await expectThemesAccessible(member);
  await member.getByRole('button', { name: 'Apply all' }).click();
  await expect(member.getByRole('heading', { level: 1, name: 'Sum of an order' })).toBeVisible();
  await member.getByRole('button', { name: 'Publish' }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  await member.getByRole('button', { name: 'Start run' }).click();
  await expect(member.getByRole('link', { name: 'Explain', exact: true })).toBeVisible();
  const failed = member.url();
  await member.getByRole('link', { name: 'Explain', exact: true }).click();

  const message = member.getByRole('textbox', { name: 'Message Autopilot' });
  await expect(message).toHaveValue('Why did this run fail?');
  await expectThemesAccessible(member);
  await message.press('Enter');
  await expect(answers).toContainText('The input has no number.');
  await expect(member.getByRole('link', { name: 'the run that failed' })).toBeVisible();
  await expect(member.getByRole('region', { name: 'Graph of the draft' })).toBeVisible();

  const [, workflowId = '', runId = ''] = /workflows\/([^/]+)\/runs\/([^?/]+)/.exec(failed) ?? [];
  const edits = [{ type: 'update_step', step: 'sum', set: { script: 'return 1' } }];
  const fix = { workflow_id: workflowId, title: 'Count from one', edits };
  model.script({
    answers: [
      { match: { last: 'Fix this run' }, content: [{ calls: [{ name: 'autopilot_propose', arguments: fix }] }] },
      { content: [{ text: 'It counts from one.' }] },
    ],
  });
  await member.goto(failed);
  await member.getByRole('link', { name: 'Fix with Autopilot' }).click();
  await message.press('Enter');
  // The proposal is drawn on the graph without a reload.
  const drawn = member.getByRole('region', { name: 'Graph of the proposal' });
  await expect(drawn.locator('[data-step="sum"]')).toContainText('Changed');
  await drawn.getByRole('button', { name: 'Back to the draft' }).click();
  await expect(drawn).toHaveCount(0);
  await member.getByRole('link', { name: 'Proposal: Count from one' }).click();
  await member.getByRole('button', { name: 'Try', exact: true }).click();
  const form = member.getByRole('form', { name: 'Try the proposal' });
  await expect(form.getByRole('combobox', { name: 'From step' })).toHaveText('sum');
  await expect(form.getByRole('combobox', { name: 'Data' })).toContainText('Failed');
  await expectThemesAccessible(member);
  await form.getByRole('button', { name: 'Start the trial' }).click();
  const trial = member.getByRole('region', { name: 'Trial' });
  await expect(trial.getByRole('status')).toContainText('Proven');
  await expect(trial.getByRole('link', { name: 'a run' })).toHaveAttribute('href', new RegExp(runId));

  const script = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${workflowId}`);
    return (graph as { steps: { script: string }[] }).steps[0]?.script;
  };
  await member.getByRole('button', { name: 'Apply all' }).click();
  await expect.poll(script).toBe('return 1');
  await member.getByRole('button', { name: 'All proposals' }).click();
  await member.getByRole('button', { name: 'Restore…' }).click();
  const restoring = member.getByRole('dialog', { name: 'Restore the draft' });
  await expect(restoring).toContainText('undoes “Count from one”');
  await expectThemesAccessible(member);
  await restoring.getByRole('button', { name: 'Restore to before this message' }).click();
  await expect(restoring).toHaveCount(0);
  await expect.poll(script).toBe('return 1 + input.missing');
});
