import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../platform/postgres/testing.ts';
import { chain, createHarness, outline } from './testing.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

test('a chain runs to its end, with every event in the log and the projection beside it', async () => {
  const { orchestrator, ...h } = await createHarness(db).then(harness => ({
    orchestrator: harness.orchestrator,
    h: harness,
  }));
  const harness = h.h;
  const ref = await harness.start(harness.workflow(chain(3)));
  await harness.ended(ref);
  const events = await harness.events(ref);
  expect(outline(events)).toEqual([
    'run_started',
    'step_started s0',
    'step_completed s0',
    'step_started s1',
    'step_completed s1',
    'step_started s2',
    'step_completed s2',
    'state_changed completed',
  ]);
  expect(events.map(event => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  await orchestrator.close();
});
