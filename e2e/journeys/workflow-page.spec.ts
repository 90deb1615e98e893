import { expect, expectAccessible, expectPagesAccessible, signIn, test } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';

const lua = (id: string, script: string, extra: object = {}) => ({ id, type: 'lua_script', script, ...extra });

/** Publishes a workflow with these steps, and returns its id. */
async function publish(api: Parameters<Parameters<typeof test>[2]>[0]['api'], name: string, steps: object[]) {
  const { id } = await api.call('POST', '/v1/workflows', { name, graph: { steps } });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  return String(id);
}

test('a draft is saved automatically, shows its problems in place, and can be published once they are fixed', async ({
  member,
  api,
}) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Draft', graph: { steps: [lua('a', 'return 1')] } });
  await member.goto(`/workflows/${String(id)}?panel=json`);
  const editor = member.getByRole('textbox', { name: 'Graph as JSON' });
  await replaceText(editor, JSON.stringify({ steps: [lua('a', 'return 1', { depends_on: ['nowhere'] })] }, null, 2));
  await expect(member.getByText('Saved', { exact: true })).toBeVisible();
  const problems = member.getByRole('region', { name: 'Problems' });
  await expect(problems).toContainText('nowhere');
  await expect(member.locator('[data-step="a"]')).toContainText('1 problem');
  await expect(member.locator('.cm-lintRange-error').first()).toBeVisible();
  await expectAccessible(member);
  await problems.getByRole('button', { name: /nowhere/ }).click();
  await expect(editor).toBeFocused();

  await replaceText(
    editor,
    JSON.stringify({ steps: [lua('a', 'return 1'), lua('b', 'return 2', { depends_on: ['a'] })] }),
  );
  await expect(problems).toContainText('can be published');
  await expect(member.locator('[data-step="b"]')).toBeVisible();
  await member.getByRole('button', { name: 'Publish' }).click();
  const dialog = member.getByRole('dialog', { name: 'Publish version 1' });
  await dialog.getByLabel(/What has changed/).fill('Two **steps**');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await expect(member.getByText('Version 1 is published')).toBeVisible();
  await member.getByRole('tab', { name: 'Versions' }).click();
  await expect(member.locator('strong', { hasText: 'steps' })).toBeVisible();
  const stored = await api.call('GET', `/v1/workflows/${String(id)}`);
  expect(stored).toMatchObject({ latest_version: 1, graph: { steps: [{ id: 'a' }, { id: 'b' }] } });
});

test('two editors never silently overwrite each other’s changes', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Two', graph: { steps: [lua('a', 'return 1')] } });
  const path = `/v1/workflows/${String(id)}`;
  const stored = () => api.call('GET', path);
  const announced = member.waitForResponse(answer => answer.url().includes('workflows_announce_editor'));
  await member.goto(`/workflows/${String(id)}?panel=json`);
  await announced;
  // From now on, the page discovers other changes only when it saves.
  await member.route(/workflows_announce_editor/, route => route.abort());
  const editor = member.getByRole('textbox', { name: 'Graph as JSON' });
  await expect(editor).toContainText('return 1');

  // Changes of different steps are merged.
  await api.call('PATCH', path, { graph: { steps: [lua('a', 'return 1'), lua('theirs', 'return 2')] } });
  await replaceText(editor, JSON.stringify({ steps: [lua('a', 'return 1'), lua('mine', 'return 3')] }));
  await expect(member.locator('[data-step="theirs"]')).toBeVisible();
  await expect(member.getByText('Saved', { exact: true })).toBeVisible();
  await expect(member.locator('[data-step="mine"]')).toBeVisible();

  // Changes of the same field are a conflict.
  const { graph } = await stored();
  const { steps } = graph as { steps: { id: string }[] };
  const withScript = (script: string) => ({ steps: steps.map(step => (step.id === 'a' ? lua('a', script) : step)) });
  await api.call('PATCH', path, { graph: withScript('return "theirs"') });
  await replaceText(editor, JSON.stringify(withScript('return "mine"')));
  const conflict = member.getByRole('region', { name: 'Conflict' });
  await expect(conflict).toContainText('You, in another window or with an API key, also changed this draft');
  await expect(conflict.getByRole('radio', { name: /^You changed/ })).toContainText('return "mine"');
  const theirs = conflict.getByRole('radio', { name: /^You, elsewhere, changed/ });
  await expect(theirs).toContainText('return "theirs"');
  expect(JSON.stringify(await stored())).not.toContain(JSON.stringify('return "mine"'));
  await expectAccessible(member);
  await theirs.click();
  await conflict.getByRole('button', { name: 'Resolve' }).click();
  await expect(editor).toContainText('theirs');
  await expect(member.getByText('Saved', { exact: true })).toBeVisible();
});

test('invalid text is kept but not sent', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Broken', graph: { steps: [lua('a', 'return 1')] } });
  await member.goto(`/workflows/${String(id)}?panel=json`);
  await replaceText(member.getByRole('textbox', { name: 'Graph as JSON' }), '{"steps": [');
  await expect(member.getByText(/^Not saved:/)).toBeVisible();
  await expect(member.locator('[data-step="a"]')).toBeVisible();
  expect(await api.call('GET', `/v1/workflows/${String(id)}`)).toMatchObject({ graph: { steps: [{ id: 'a' }] } });
});

test('a run is paused, resumed and stopped from its page; a failed run shows its error and is run again @phone', async ({
  member,
  api,
}) => {
  const workflow = await publish(api, 'Controls', [
    { id: 'ask', type: 'human_task', instructions: 'Well?' },
    lua('after', 'return 1', { depends_on: ['ask'] }),
  ]);
  const { run_id } = await api.call('POST', `/v1/workflows/${workflow}/command`, { command: 'start', params: {} });
  await member.goto(`/workflows/${workflow}/runs/${String(run_id)}`);
  const heading = member.getByRole('heading', { level: 1 });
  await expect(heading).toContainText('Waiting for a person');
  await member.getByRole('button', { name: 'Pause' }).click();
  await expect(heading).toContainText('Paused');
  await member.getByRole('button', { name: 'Resume' }).click();
  await expect(heading).toContainText('Waiting for a person');
  await member.getByRole('button', { name: 'Stop' }).click();
  await member.getByRole('menuitem', { name: 'Stop now' }).click();
  await member.getByRole('alertdialog').getByRole('button', { name: 'Stop now' }).click();
  await expect(heading).toContainText('Stopped');
  await expect(member.locator('[data-step="ask"]')).toHaveAttribute('data-status', 'cancelled');

  const failing = await publish(api, 'Failing', [
    lua('boom', 'error("no luck")'),
    lua('b', 'return 1', { depends_on: ['boom'] }),
  ]);
  const started = await api.call('POST', `/v1/workflows/${failing}/command`, { command: 'start', params: { n: 7 } });
  await member.goto(`/workflows/${failing}/runs/${String(started.run_id)}`);
  await expect(heading).toContainText('Failed');
  await expect(member.getByRole('alert').filter({ hasText: 'no luck' }).first()).toBeVisible();
  await member.getByRole('tab', { name: 'Events' }).click();
  await member.getByLabel('Failures only').click();
  await expect(member.getByText(/^1 of \d+ events$/)).toBeVisible();
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Run again' }).click();
  await expect(member).not.toHaveURL(new RegExp(String(started.run_id)));
  await expect(heading).toContainText('Failed');
  await member.getByRole('tab', { name: 'Input' }).click();
  await expect(member.getByRole('region', { name: 'Input' })).toContainText('7');
});

test('a run of 1,000 steps is drawn, listed and updated live', async ({ member, api }) => {
  const steps = Array.from({ length: 1000 }, (_, index) => ({
    id: `s${index}`,
    type: 'condition',
    expression: 'true',
    depends_on: index === 0 ? [] : [`s${Math.floor((index - 1) / 2)}`],
  }));
  const workflow = await publish(api, 'Large', steps);
  const { run_id } = await api.call('POST', `/v1/workflows/${workflow}/command`, { command: 'start', params: {} });
  await member.goto(`/workflows/${workflow}/runs/${String(run_id)}`);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Completed', { timeout: 60_000 });
  // The page initially showed the running steps; for an ended run, it shows the first step.
  await member.reload();
  // Only the steps in view are drawn; the minimap moves to the others.
  const graph = member.getByRole('region', { name: 'Graph of the run' });
  await expect(graph.locator('[data-step="s0"]')).toHaveAttribute('data-status', 'completed');
  expect(await graph.locator('[data-step]').count()).toBeLessThan(100);
  await graph.getByRole('img', { name: 'Map of the graph' }).click({ position: { x: 197, y: 75 } });
  await expect(graph.locator('[data-step="s0"]')).toHaveCount(0);
  await member.getByRole('tab', { name: 'Events' }).click();
  await expect(member.getByText('2,002 events')).toBeVisible();
  const rows = member.getByRole('region', { name: 'Events' }).getByRole('listitem');
  expect(await rows.count()).toBeLessThan(100);
});

test('every view of a workflow and a run is accessible in both themes @phone', async ({ page, server, api }) => {
  const workflow = await publish(api, 'Views', [lua('a', 'log("hello") return {deep = {er = 1}}')]);
  const { run_id } = await api.call('POST', `/v1/workflows/${workflow}/command`, { command: 'start', params: {} });
  await signIn(page, server.email, server.password);
  const run = `/workflows/${workflow}/runs/${String(run_id)}`;
  await expectPagesAccessible(page, [
    `/workflows/${workflow}`,
    `/workflows/${workflow}?step=a`,
    `/workflows/${workflow}?panel=json`,
    `/workflows/${workflow}?tab=versions`,
    `/workflows/${workflow}?tab=runs`,
    `/workflows/${workflow}?run=1`,
    run,
    `${run}?step=a`,
    `${run}?tab=events`,
    `${run}?tab=data`,
  ]);
});

test('the run dialog focuses its first field, whatever its type', async ({ member, api }) => {
  const payloads = [
    { name: 'One line', run_setup: { trigger_payload: { who: 'Ada', count: 1 } }, field: 'who' },
    { name: 'Several lines', run_setup: { trigger_payload: { order: { id: 1 } } }, field: 'order' },
    { name: 'No fields', run_setup: {}, field: 'Input as JSON' },
  ];
  for (const { name, run_setup, field } of payloads) {
    const graph = { steps: [lua('a', 'return 1')] };
    const { id } = await api.call('POST', '/v1/workflows', { name, graph, run_setup });
    await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
    await member.goto(`/workflows/${String(id)}`);
    await member.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = member.getByRole('dialog', { name: `Run “${name}”` });
    await expect(dialog.getByRole('textbox', { name: field })).toBeFocused();
  }
});

test('a warning is not shown as an error, but an error that prevents publishing is', async ({ member, api }) => {
  const steps = [lua('a', 'return steps.b and 1'), lua('b', 'return 1')];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Warning', graph: { steps } });
  await member.goto(`/workflows/${String(id)}?step=a`);
  const form = member.getByRole('region', { name: 'Step and JSON' });
  await expect(form.getByRole('img', { name: 'Warning' })).toBeVisible();
  await expect(form.getByRole('alert')).toHaveCount(0);
  await expectAccessible(member);
  await replaceText(form.getByRole('textbox', { name: 'Script' }), 'return (');
  await expect(form.getByRole('alert')).toBeVisible();
  await member.getByRole('button', { name: 'Publish' }).click();
  await expect(member.getByRole('dialog')).toContainText('One problem must be fixed first.');
});
