import { expect, expectThemesAccessible, open, publishApproval, startApproval, test } from '../fixtures/console.ts';

test('a task is approved with a comment from the list, by keyboard', async ({ member, api }) => {
  const workflow = await publishApproval(api, 'Keyboard');
  const run = await startApproval(api, workflow, 'a holiday');
  await open(member, `/inbox?workflow_id=${workflow}`);
  await expect(member.getByRole('link', { name: /Decide Keyboard/ })).toBeVisible();
  await member.keyboard.press('j');
  await expect(member.getByRole('heading', { name: 'Decide Keyboard' })).toBeVisible();
  await expect(member.locator('strong', { hasText: 'a holiday' })).toBeVisible();
  await member.getByLabel('Comment').fill('Enjoy');
  await member.getByLabel('Comment').blur();
  await member.keyboard.press('r');
  const confirm = member.getByRole('alertdialog');
  await expect(confirm.getByRole('button', { name: 'Reject' })).toBeFocused();
  await expectThemesAccessible(member);
  await member.keyboard.press('Escape');
  await expect(confirm).toHaveCount(0);
  await member.keyboard.press('a');
  await expect(confirm).toHaveAccessibleName('Approve “Decide Keyboard”?');
  await expect(confirm.getByRole('button', { name: 'Approve' })).toBeFocused();
  await member.keyboard.press('Enter');
  await expect(member.getByText('Approved “Decide Keyboard”')).toBeVisible();
  const context = await api.call('GET', `/v1/workflows/${workflow}/runs/${run}/context`);
  expect(context).toMatchObject({ steps: { ask: { result: { approved: true, comment: 'Enjoy' } } } });
});

test('a plain rejection sends only {approved} @phone', async ({ member, api }) => {
  const workflow = await publishApproval(api, 'Plain');
  const run = await startApproval(api, workflow, 'this');
  const sent = member.waitForRequest(request => request.url().includes('tasks_complete'));
  await member.goto(`/inbox/${run}/ask`);
  await member.getByRole('button', { name: 'Reject' }).click();
  const request = await sent;
  expect(request.method()).toBe('POST');
  expect(request.postDataJSON()).toEqual({ id: workflow, runID: run, task_id: 'ask', approved: false });
  await expect(member.getByText('Rejected “Decide Plain”')).toBeVisible();
});

test('a form with JSON Schema references, as libraries emit them, is drawn @phone', async ({ member, api }) => {
  const form = {
    $ref: '#/$defs/Order',
    $defs: {
      State: { enum: ['open', 'paid'], title: 'State', type: 'string' },
      Address: {
        type: 'object',
        title: 'Address',
        properties: { city: { type: 'string', title: 'City' } },
        required: ['city'],
      },
      Order: {
        type: 'object',
        title: 'Order',
        required: ['state', 'mail', 'ship_to', 'note'],
        properties: {
          state: { $ref: '#/$defs/State', title: 'New state' },
          priority: { anyOf: [{ $ref: '#/$defs/State' }, { type: 'null' }], title: 'Priority' },
          mail: { type: 'string', format: 'email', title: 'Mail' },
          due: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }], title: 'Deadline' },
          at: { type: 'string', format: 'time', nullable: true, title: 'Delivery time' },
          note: { anyOf: [{ type: 'string' }, { type: 'null' }], title: 'Note' },
          ship_to: { allOf: [{ $ref: '#/$defs/Address' }], description: 'Where it goes' },
        },
        additionalProperties: false,
      },
    },
  };
  const workflow = await publishApproval(api, 'Order', form);
  const run = await startApproval(api, workflow, 'this');
  await member.goto(`/inbox/${run}/ask`);
  await member.getByRole('combobox', { name: 'New state' }).click();
  await member.getByRole('option', { name: 'paid' }).click();
  await member.getByLabel('Mail').fill('ada');
  await member.getByLabel('Deadline').fill('2027-02-30');
  await member.getByLabel('Mail').focus();
  await expect(member.getByLabel('Deadline')).toHaveAttribute('aria-invalid', 'true');
  await member.getByLabel('Deadline').fill('');
  const time = member.getByLabel('Delivery time');
  await time.fill('8:30');
  await member.getByLabel('Mail').focus();
  await expect(time).toHaveAttribute('aria-invalid', 'true');
  await time.fill('');
  await time.press('ArrowDown');
  const times = member.getByRole('listbox', { name: 'Times' });
  await expect(times.getByRole('option', { name: '09:00' })).toBeFocused();
  await expectThemesAccessible(member);
  await member.keyboard.press('ArrowUp');
  await expect(times.getByRole('option', { name: '08:30' })).toBeFocused();
  await member.keyboard.press('Enter');
  await expect(time).toHaveValue('08:30');
  await expect(time).toBeFocused();
  await member.getByRole('button', { name: 'Approve' }).click();
  await expect(member.getByText('Must be an email address.')).toBeVisible();
  await expect(member.getByText('This field is required.')).toHaveCount(1);
  await expectThemesAccessible(member);
  await member.getByLabel('Mail').fill('ada@example.com');
  await member.getByLabel('City').fill('Oslo');
  await member.getByRole('combobox', { name: 'Priority' }).click();
  await member.getByRole('option', { name: 'open' }).click();
  await member.getByRole('combobox', { name: 'Priority' }).click();
  await member.getByRole('option', { name: 'None' }).click();
  await member.getByRole('button', { name: 'Approve' }).click();
  await expect(member.getByText('Approved “Decide Order”')).toBeVisible();
  const context = await api.call('GET', `/v1/workflows/${workflow}/runs/${run}/context`);
  const result = { state: 'paid', mail: 'ada@example.com', at: '08:30', note: null, ship_to: { city: 'Oslo' } };
  expect(context).toMatchObject({ steps: { ask: { result } } });
});

test('the form of a task is filled in and validated before it is sent @phone', async ({ member, api }) => {
  const form = {
    type: 'object',
    required: ['amount', 'reason'],
    properties: {
      amount: { type: 'number', title: 'Amount', minimum: 1 },
      reason: { enum: ['travel', 'meals'], title: 'Reason' },
      urgent: { type: 'boolean', title: 'Urgent' },
    },
  };
  const workflow = await publishApproval(api, 'Expense', form);
  const run = await startApproval(api, workflow, 'this');
  await member.goto(`/inbox/${run}/ask`);
  await member.getByRole('button', { name: 'Approve' }).click();
  await expect(member.getByText('This field is required.')).toHaveCount(2);
  await member.getByLabel('Amount').fill('12.5');
  await member.getByRole('combobox', { name: 'Reason' }).click();
  await member.getByRole('option', { name: 'travel' }).click();
  await member.getByLabel('Urgent').click();
  await member.getByRole('button', { name: 'Approve' }).click();
  await expect(member.getByText('Approved “Decide Expense”')).toBeVisible();
  const context = await api.call('GET', `/v1/workflows/${workflow}/runs/${run}/context`);
  expect(context).toMatchObject({ steps: { ask: { result: { amount: 12.5, reason: 'travel', urgent: true } } } });
});

test('an answer that somebody else gave first is shown, not an error', async ({ member, api, server }) => {
  const workflow = await publishApproval(api, 'Race');
  const run = await startApproval(api, workflow, 'this');
  await member.goto(`/inbox/${run}/ask`);
  await expect(member.getByRole('button', { name: 'Approve' })).toBeVisible();
  await api.call('POST', `/v1/workflows/${workflow}/runs/${run}/tasks/ask/complete`, { approved: true });
  await expect(member.getByText(`Approved by ${server.email}`)).toBeVisible();
  await member.goto(`/inbox/${run}/ask`);
  await expect(member.getByText(`Approved by ${server.email}`)).toBeVisible();
});

test('opening a link decides nothing', async ({ member, api }) => {
  const workflow = await publishApproval(api, 'Link');
  const run = await startApproval(api, workflow, 'this');
  await member.goto(`/inbox/${run}/ask?approved=true`);
  await expect(member.getByRole('button', { name: 'Approve' })).toBeVisible();
  const { orchestration_phase } = await api.call('GET', `/v1/workflows/${workflow}/runs/${run}/summary`);
  expect(orchestration_phase).toBe('blocked');
});

test('the sidebar shows an error when it cannot count the waiting tasks', async ({ member }) => {
  await member.route(/\/api\/trpc\/[^?]*tasks_list_pending/, route => route.abort());
  await member.goto('/runs');
  const inbox = member.getByRole('link', { name: 'Inbox Could not count the waiting tasks' });
  await expect(inbox).toBeVisible();
  await expectThemesAccessible(member);
});
