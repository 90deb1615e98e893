import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { publishGraph, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { call, contextFor, luaStep as lua } from '../../testing/workflows.ts';
import { runOperations } from './operations.ts';

/**
 * Tests logs of earlier versions, which contain text that PostgreSQL stores in json but refuses to read: NUL and half
 * surrogate pairs. The events of these runs are changed to what the earlier versions wrote.
 */
const operations = operationsByName(runOperations);
const PLACE = 'written-by-an-old-version';
/**
 * JSON text with NUL, with each half of a pair by itself, also twice in a row, and with a valid pair and a valid
 * escaped backslash.
 */
const OLD = 'a\\u0000\\u0000b\\ud83d \\udc00\\ud83d\\ud83d\\ude00 \\\\u0000';
const READ = 'a\uFFFD\uFFFDb\uFFFD \uFFFD\uFFFD😀 \\u0000';

let service: RunningService;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const as = () => contextFor(service.services, tenant.contributor);

/** Replaces PLACE by the old text in the log of a run. Returns the number of changed rows. */
async function makeOld(runID: string): Promise<number> {
  const change = (table: string, column: string) =>
    service.services.pool.query(
      `UPDATE ${table} SET ${column} = replace(${column}::text, $2, $3)::json WHERE run_id = $1 AND ${column}::text LIKE '%' || $2 || '%'`,
      [runID, PLACE, OLD],
    );
  return ((await change('run_events', 'data')).rowCount ?? 0) + ((await change('run_payloads', 'body')).rowCount ?? 0);
}

test('a run with unreadable text in its log is read by every operation', async () => {
  const id = await publishGraph(service.services, tenant.owner, {
    steps: [
      lua('small', `return {["${PLACE}"] = "${PLACE}"}`),
      lua('large', `return "${PLACE}" .. string.rep("x", 20000)`, 'small'),
      lua('fails', `log("${PLACE}") error("${PLACE}")`, 'large'),
    ],
  });
  const { run_id: runID } = await call(operations.workflows_execute_command, as(), {
    id,
    command: 'start',
    params: { text: PLACE },
  });
  const ref = { id, runID };
  await reached(service.services, tenant.owner, ref);
  expect(await makeOld(runID)).toBeGreaterThanOrEqual(4);

  const summary = await call(operations.runs_get_summary, as(), ref);
  expect(summary.status).toBe('failed');
  expect(JSON.stringify(summary.steps)).toContain(READ.replaceAll('\\', '\\\\'));
  expect((await call(operations.runs_get_snapshot, as(), ref)).steps).toHaveLength(3);
  expect((await call(operations.runs_get_context, as(), ref)).run_id).toBe(runID);
  for (const step_id of ['small', 'large', 'fails'])
    expect(await call(operations.runs_get_step, as(), { ...ref, step_id })).toBeDefined();
  expect(await call(operations.runs_list_called, as(), ref)).toBeDefined();
  const { events } = await call(operations.runs_list_events, as(), ref);
  expect(events.length).toBeGreaterThan(5);
  const { runs } = await call(operations.runs_list_tenant, as(), {});
  expect(runs.map(run => run.run_id)).toContain(runID);
});

test('the views have the columns of their tables, and change only unreadable text', async () => {
  const columns = async (table: string) =>
    (
      await service.services.pool.query(
        'SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position',
        [table],
      )
    ).rows;
  for (const table of ['run_events', 'run_payloads'])
    expect(await columns(`readable_${table}`)).toEqual(await columns(table));
  const readableJson = async (text: string) =>
    (await service.services.pool.query('SELECT readable_json($1::json)::text AS text', [text])).rows[0].text;
  for (const text of ['{"a":"\\ud83d\\ude00"}', '"\\\\u0000"', '"\\\\\\\\ud83d"', ' {"b" : 1}', '"\\u00e9"'])
    expect(await readableJson(text)).toBe(text);
  expect(JSON.parse(await readableJson('"\\\\\\u0000\\uD83D\\uDE00\\uDE00"'))).toBe('\\\uFFFD😀\uFFFD');
});
