import { expect, open, test } from '../fixtures/console.ts';

test('the link of a workflow opens the same step from another project', async ({ member, api, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const steps = [
    { id: 'first', type: 'lua_script', script: 'return 1' },
    { id: 'second', type: 'lua_script', script: 'return 2', depends_on: ['first'] },
  ];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Shared by link', graph: { steps } });
  const { id: other } = await api.call('POST', '/v1/projects', { name: `other-${crypto.randomUUID()}` });
  await open(member, `/workflows/${String(id)}?step=second`);
  await expect(member.getByRole('textbox', { name: 'Name' })).toHaveAttribute('placeholder', 'second');
  await member.getByRole('button', { name: 'More actions' }).click();
  await member.getByRole('menuitem', { name: 'Copy link' }).click();
  const link = () => member.evaluate(() => navigator.clipboard.readText());
  await expect.poll(link).toContain(`/workflows/${String(id)}?step=second&tenant=`);
  const copied = await link();

  await open(member, `/workflows?project=${String(other)}`);
  await expect(member.getByText('No workflows yet')).toBeVisible();
  await open(member, copied);
  await expect(member.getByRole('heading', { level: 1 })).toContainText('Shared by link');
  await expect(member.getByRole('textbox', { name: 'Name' })).toHaveAttribute('placeholder', 'second');
  // The other journeys work in the first project, so it is selected again.
  await open(member, '/workflows');
  await expect(member.getByRole('link', { name: 'Shared by link' })).toBeVisible();
});
