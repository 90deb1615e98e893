import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import type { Graph } from '../../../orchestrator/core/index.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { asking, publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, refusal } from '../../../testing/workflows.ts';
import { runOperations } from '../operations.ts';

const { workflows_execute_command: command } = operationsByName(runOperations);

let service: RunningService;
let acme: TestTenant;
let rival: TestTenant;
const workflows = new Map<string, { waiting: string; quick: string; busy: string }>();

beforeAll(async () => {
  service = await startTestService();
  const quick = { steps: [{ id: 'a', type: 'condition', expression: 'true' }] };
  const busy = { steps: [{ id: 'a', type: 'lua_script', script: 'while true do end', timeout_s: 600 }] };
  const make = async (slug: string) => {
    const tenant = await createTestTenant(service.services, { slug });
    const publish = (graph: Graph) => publishGraph(service.services, tenant.owner, graph);
    const made = { waiting: await publish(asking()), quick: await publish(quick) };
    workflows.set(slug, { ...made, busy: await publish(busy) });
    return tenant;
  };
  acme = await make('acme');
  rival = await make('rival');
});
afterAll(() => service.close());

type Kind = 'waiting' | 'quick' | 'busy';
const workflowOf = ({ tenantId }: Principal, kind: Kind) => workflows.get(tenantId)?.[kind] ?? '';
const start = (who: Principal, kind: Kind, run_id: string, key?: string) =>
  call(command, contextFor(service.services, who, key ? { headers: new Map([['idempotency-key', key]]) } : {}), {
    id: workflowOf(who, kind),
    command: 'start',
    params: { run_id },
  });

/** Returns the text of a statement that is passed to pg. */
function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : String(Reflect.get(statement as object, 'text'));
}

/** Some starts also delete old keys. */
const isHousekeeping = (text: string) => text.startsWith('DELETE FROM idempotency_keys');

/** Returns the answer to a start with a taken id, and the queries made for it. */
async function refused(who: Principal, run_id: string, key?: string) {
  const query = vi.spyOn(service.db.pool, 'query');
  try {
    const { status, code, message, details, headers } = await refusal(start(who, 'waiting', run_id, key));
    return {
      status,
      code,
      message,
      details,
      headers,
      asked: query.mock.calls.map(([statement]) => textOf(statement)).filter(text => !isHousekeeping(text)),
    };
  } finally {
    query.mockRestore();
  }
}

describe.each<[string, Kind, ('blocked' | 'complete' | 'executing')[]]>([
  ['waits for a person', 'waiting', ['blocked']],
  ['has ended', 'quick', ['complete']],
  ['is busy', 'busy', ['executing']],
])('the id of a run that %s', (_what, kind, phases) => {
  test.each([undefined, 'order-7'])(
    'is refused for the same work, whoever has that run (Idempotency-Key: %s)',
    async key => {
      const runId = newId();
      await start(acme.contributor, kind, runId);
      await reached(
        service.services,
        acme.contributor,
        { id: workflowOf(acme.contributor, kind), runID: runId },
        ...phases,
      );
      await refused(rival.contributor, runId); // values that are read only once
      await refused(acme.contributor, runId);
      const own = await refused(acme.contributor, runId, key && `${key}-${runId}`);
      const foreign = await refused(rival.contributor, runId, key && `${key}-${runId}`);
      expect(foreign).toEqual(own);
      expect(own).toMatchObject({ status: 409, code: 'run_id_taken', message: 'A run with this id already exists.' });
    },
  );
});

test('the same Idempotency-Key starts a run in each workspace', async () => {
  const startOnce = (who: Principal) =>
    call(command, contextFor(service.services, who, { headers: new Map([['idempotency-key', 'invoice-1042']]) }), {
      id: workflowOf(who, 'quick'),
      command: 'start',
    });
  const [first, second] = [await startOnce(acme.contributor), await startOnce(rival.contributor)];
  expect(first.run_id).not.toBe(second.run_id);
  expect(await startOnce(rival.contributor)).toEqual(second);
});
