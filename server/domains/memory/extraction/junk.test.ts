import { expect, test } from 'vitest';
import { measureJunk } from '../../../../bench/memory/junk.ts';
import { createTestDatabase } from '../../../testing/postgres.ts';

test('a sloppy model and noisy conversations add no junk to the active items', async () => {
  await using db = await createTestDatabase();
  const figures = await measureJunk(db.pool, 100);
  expect(figures['junk %']).toBe(0);
  expect(figures['duplicates %']).toBe(0);
  expect(figures['unasked %']).toBe(0);
  // Without this an empty memory would pass the test.
  expect(figures['asked and kept %']).toBe(100);
});
