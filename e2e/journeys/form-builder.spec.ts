import type { Locator } from '@playwright/test';
import { expect, expectThemesAccessible, open, test } from '../fixtures/console.ts';
import { addField, insertValue, pressUntilFocused } from '../fixtures/keyboard.ts';
import { canvasOf, formOf } from '../fixtures/whole-job.ts';

const rows = (form: Locator) => form.locator('[data-field-row]');

test('an approval with a form is built from scratch by keyboard, without JSON, and answered', async ({
  member,
  api,
}) => {
  const { keyboard } = member;
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Expenses', graph: { steps: [] } });
  const workflow = `/v1/workflows/${String(id)}`;
  const stored = async () => (await api.call('GET', workflow)).graph as Record<string, unknown>;
  await open(member, `/workflows/${String(id)}`);
  const side = formOf(member);

  // First the input. Tab on the canvas adds a step; Escape and then Tab leaves the canvas.
  await expect(canvasOf(member)).toBeFocused();
  await keyboard.press('Escape');
  await pressUntilFocused(member, 'Tab', side.getByText('Input, output and failure handling'));
  await keyboard.press('Enter');
  const input = side.getByRole('region', { name: 'Input', exact: true });
  await addField(member, input, 'Text', 'Customer');
  await pressUntilFocused(member, 'Tab', input.getByRole('checkbox', { name: 'Required' }));
  await keyboard.press('Space');
  await addField(member, input, 'Number', 'Amount');
  const input_schema = {
    type: 'object',
    properties: { customer: { type: 'string', title: 'Customer' }, amount: { type: 'number', title: 'Amount' } },
    required: ['customer'],
  };
  await expect.poll(stored).toEqual({ steps: [], input_schema });
  await expectThemesAccessible(member);

  // Then the approval.
  await pressUntilFocused(member, 'Shift+Tab', canvasOf(member).getByRole('button', { name: 'Add the first step' }));
  await keyboard.press('Enter');
  const palette = member.getByRole('dialog', { name: 'Add a step' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await keyboard.type('human');
  await expect(palette.getByRole('option')).toHaveCount(1);
  await keyboard.press('Enter');
  await expect(palette).toHaveCount(0);
  await expect(canvasOf(member).locator('.react-flow__node[data-id="human_task"]')).toBeFocused();
  await keyboard.press('Enter');
  await expect(side.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await keyboard.insertText('Approve the expense');
  await pressUntilFocused(member, 'Tab', side.getByRole('button', { name: 'Add person or role' }));
  await keyboard.press('Enter');
  await expect(member.getByPlaceholder('Name, email or role…')).toBeFocused();
  await keyboard.type('administrators');
  await expect(member.getByRole('option')).toHaveCount(1);
  await keyboard.press('Enter');
  await expect(side.getByRole('listitem').filter({ hasText: 'Administrators' })).toBeVisible();
  const instructions = side.getByRole('textbox', { name: 'Instructions', exact: true });
  await pressUntilFocused(member, 'Tab', instructions);
  await keyboard.insertText('Pay **');
  await insertValue(member, 'amount', /amount/);
  await expect(instructions).toBeFocused();
  await keyboard.insertText('**?');
  await expect(instructions).toHaveText('Pay **{{input.amount}}**?');

  // The form of the approval: two fields are swapped, and one choice is replaced.
  const form = side.getByRole('region', { name: 'Form', exact: true });
  await addField(member, form, 'Text', 'Reason');
  await addField(member, form, 'Choice', 'Account');
  const choice = (number: number) => form.getByRole('textbox', { name: `Choice ${number}` });
  await pressUntilFocused(member, 'Tab', choice(1));
  await keyboard.insertText('Travel');
  await keyboard.press('Enter');
  await expect(choice(2)).toBeFocused();
  await keyboard.insertText('Books');
  await addField(member, form, 'Date', 'Pay on');
  await expect(rows(form)).toHaveText([/^Reason/, /^Account/, /^Pay on/]);
  await pressUntilFocused(member, 'Shift+Tab', form.getByRole('button', { name: 'Account' }));
  await keyboard.press('Alt+ArrowUp');
  await expect(rows(form)).toHaveText([/^Account/, /^Reason/, /^Pay on/]);
  await expect(form.getByRole('button', { name: 'Account' })).toBeFocused();
  await expect(form.getByRole('status')).toHaveText('Account is now field 1 of 3.');
  await keyboard.press('Enter');
  await pressUntilFocused(member, 'Tab', form.getByRole('checkbox', { name: 'Required' }));
  await keyboard.press('Space');
  const ask = {
    id: 'human_task',
    type: 'human_task',
    name: 'Approve the expense',
    assignees: ['tenant_admin'],
    instructions: 'Pay **{{input.amount}}**?',
    form: {
      type: 'object',
      properties: {
        account: { type: 'string', title: 'Account', enum: ['Travel', 'Books'] },
        reason: { type: 'string', title: 'Reason' },
        pay_on: { type: 'string', format: 'date', title: 'Pay on' },
      },
      required: ['account'],
    },
  };
  await expect.poll(stored).toEqual({ steps: [ask], input_schema });
  await expectThemesAccessible(member);

  // The JSON of the form is the same, and keywords that the builder does not support stay unchanged.
  await form.getByRole('checkbox', { name: 'Edit as JSON' }).check();
  await expect(form.getByRole('textbox', { name: 'Form' })).toContainText('"pay_on"');
  await form.getByRole('checkbox', { name: 'Edit as JSON' }).uncheck();
  await pressUntilFocused(member, 'Shift+Tab', form.getByRole('button', { name: 'Preview' }));
  await keyboard.press('Enter');
  const preview = member.getByRole('dialog', { name: 'As the person sees it' });
  await expect(preview.getByRole('combobox', { name: 'Account' })).toBeVisible();
  await expect(preview.getByLabel('Pay on')).toBeVisible();
  await expectThemesAccessible(member);
  await keyboard.press('Escape');
  await expect(preview).toHaveCount(0);

  // The output is chosen by name.
  await keyboard.press('Escape');
  await canvasOf(member).click({ position: { x: 20, y: 300 } });
  const output = side.getByRole('region', { name: 'Output', exact: true });
  if (!(await output.isVisible())) await side.getByText('Input, output and failure handling').click();
  await pressUntilFocused(member, 'Tab', output.getByRole('button', { name: 'Add value to Output' }));
  await keyboard.press('Enter');
  await expect(output.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await keyboard.insertText('account');
  await keyboard.press('Tab');
  await insertValue(member, 'account', /account/);
  await expect(output.getByRole('textbox', { name: 'Value of account' })).toHaveValue(
    '{{steps.human_task.result.account}}',
  );
  await expect.poll(async () => (await stored()).output).toEqual({ account: '{{steps.human_task.result.account}}' });
});
