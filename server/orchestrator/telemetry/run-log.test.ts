import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../platform/logger.ts';
import { createHarness, stepType } from '../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { createRunLog } from './index.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const fails = stepType('fails', async () => ({
  kind: 'failed',
  error: { code: 'no_luck', message: 'PRIVATE' },
  retryable: false,
}));
const throws = stepType('throws', async ({ attempt }) => {
  if (attempt === 1) throw new Error('a defect of the type');
  return { kind: 'completed', result: null };
});

/** Returns the log lines of one run of one step of this type. */
async function logOf(type: string, level: string) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger(level, { destination: { write: line => void lines.push(JSON.parse(line)) } });
  const harness = await createHarness(db, { logger, observer: createRunLog(logger), types: [fails, throws] });
  const ref = await harness.start(harness.workflow({ steps: [{ id: 'a', type }] }));
  await harness.ended(ref);
  await harness.orchestrator.close();
  const about = { run_id: ref.runId, tenant_id: 'acme', workflow_id: ref.workflowId };
  return { about, lines: lines.filter(({ run_id }) => run_id === ref.runId) };
}

test('a run is logged from its start to its end, with its tenant, and its failed step with the attempt', async () => {
  const { about, lines } = await logOf('fails', 'debug');
  expect(lines).toMatchObject([
    { ...about, level: 20, msg: 'run started', version: 1, trigger_type: 'api' },
    { ...about, level: 20, msg: 'step failed', step_id: 'a', attempt: 1, code: 'no_luck' },
    { ...about, level: 20, msg: 'run ended', status: 'failed', code: 'no_luck', step_id: 'a', duration_ms: 0 },
  ]);
  expect(JSON.stringify(lines)).not.toContain('PRIVATE');
});

test('at info a run without defects logs nothing, not even its failure', async () => {
  expect((await logOf('fails', 'info')).lines).toEqual([]);
});

test('a defect of a step type is an error line that names run, tenant, step and attempt', async () => {
  const { about, lines } = await logOf('throws', 'info');
  expect(lines).toMatchObject([
    {
      ...about,
      level: 50,
      msg: 'a step type threw',
      step_id: 'a',
      attempt: 1,
      err: { message: 'a defect of the type' },
    },
  ]);
});
