import { expect, test } from 'vitest';
import { measureUpdates } from '../../../../bench/memory/updates.ts';
import { createTestDatabase } from '../../../testing/postgres.ts';

test('the newest of two statements is found first, by words and with vectors', async () => {
  await using db = await createTestDatabase();
  const figures = await measureUpdates(db.pool, 60);
  for (const [name, part] of Object.entries(figures)) expect([name, part >= 0.95]).toEqual([name, true]);
});
