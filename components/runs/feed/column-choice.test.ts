import { expect, test } from 'vitest';
import { readHidden, toggled } from './column-choice.ts';

test('a choice of columns is stored, and an unreadable stored text is ignored', () => {
  const none = readHidden('');
  expect(none).toEqual({ hidden: [], added: [] });
  const chosen = toggled(toggled(none, 'Trigger', true), 'order_id', false);
  expect(readHidden(JSON.stringify(chosen))).toEqual({ hidden: ['Trigger'], added: ['order_id'] });
  expect(toggled(chosen, 'Trigger', true).hidden).toEqual([]);
  for (const odd of ['{', '[]', '{"hidden":1}', 'null']) expect(readHidden(odd)).toEqual(none);
});
