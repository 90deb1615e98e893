import { expect, publishApproval, startApproval, test } from '../fixtures/console.ts';

test('an administrator stops all listed runs @phone', async ({ member, api }) => {
  const workflow = await publishApproval(api, 'Too many');
  const other = await publishApproval(api, 'Needed');
  for (const id of [workflow, workflow, workflow, other]) await startApproval(api, id, 'this');
  await member.goto('/runs?q=Too+many');
  await expect(member.getByText('Too many')).toHaveCount(3);
  await member.getByRole('button', { name: 'Stop runs…' }).click();
  const dialog = member.getByRole('alertdialog', { name: 'Stop runs?' });
  await expect(dialog).toContainText('3 active runs match the filters of this page');
  await dialog.getByRole('button', { name: 'Stop runs' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(member.getByText('Stopped', { exact: true })).toHaveCount(3);
  await member.goto('/runs?q=Needed');
  await expect(member.getByText('Waiting for a person')).toHaveCount(1);
  await member.goto('/runs?q=Too+many');
  await member.getByRole('button', { name: 'Stop runs…' }).click();
  await expect(dialog).toContainText('No active run matches');
  await dialog.getByRole('button', { name: 'Close' }).click();
});

test('archiving a workflow can stop its active runs', async ({ member, api }) => {
  const id = await publishApproval(api, 'Runs away');
  const run_id = await startApproval(api, id, 'this');
  await member.goto('/workflows');
  await member.getByRole('button', { name: 'Actions for Runs away' }).click();
  await member.getByRole('menuitem', { name: 'Archive' }).click();
  await member.getByRole('checkbox', { name: 'Stop its active runs' }).check();
  await member.getByRole('button', { name: 'Archive', exact: true }).click();
  await expect(member.getByText('Runs away is archived')).toBeVisible();
  const summary = async () => (await api.call('GET', `/v1/workflows/${id}/runs/${run_id}/summary`)).status;
  await expect.poll(summary).toBe('stopped');
});
