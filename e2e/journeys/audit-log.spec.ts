import { expect, test } from '../fixtures/console.ts';

test('the audit log lists changes, and can be filtered and exported', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Audited', graph: { steps: [] } });
  // A response does not wait for its audit entry, and the page is not reloaded, so the test waits for the entry first.
  await expect.poll(async () => (await api.call('GET', `/v1/audit-log?target=${id}`)).entries).toHaveLength(1);
  await member.goto('/workflows');
  await member.getByRole('link', { name: 'Settings', exact: true }).click();
  await member.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Audit log' }).click();
  const log = member.getByRole('region', { name: 'Audit log' });
  const created = log.getByRole('row').filter({ hasText: 'Audited' });
  await expect(created).toContainText('workflows_create');
  await expect(created.getByRole('button', { name: 'Copy the ID of Audited' })).toBeVisible();
  await expect(created).toContainText('API');
  await expect(created).toContainText('Done');

  await member.getByLabel('ID of what was changed').fill(String(id));
  await expect(member).toHaveURL(/target=/);
  await expect(log.getByRole('row')).toHaveCount(2);

  const download = member.waitForEvent('download');
  await member.getByRole('button', { name: 'Export CSV' }).click();
  expect((await download).suggestedFilename()).toMatch(/^audit-log-\d{4}-\d\d-\d\d\.csv$/);

  await member.getByRole('combobox', { name: 'Outcome' }).click();
  await member.getByRole('option', { name: 'Refused or failed' }).click();
  await expect(member.getByText('Nothing matches these filters.')).toBeVisible();
});

test('a list that fails to load shows an error, and can be retried', async ({ member, api }) => {
  await api.call('POST', '/v1/workflows', { name: 'Recorded', graph: { steps: [] } });
  await member.route(/audit_log_list/, route => route.abort(), { times: 4 });
  await member.goto('/settings/audit-log');
  await expect(member.getByText('Could not load this')).toBeVisible();
  await member.getByRole('button', { name: 'Try again' }).click();
  await expect(member.getByRole('region', { name: 'Audit log' }).getByRole('row').nth(1)).toBeVisible();
});
