import type { Pool } from 'pg';
import type { Graph, JsonValue } from '../../server/orchestrator/core/index.ts';
import type { StartRun } from '../../server/orchestrator/orchestrator.ts';
import { newId } from '../../server/platform/ids.ts';

/** Long enough (~1 ms) that a kill finds some of them at work. */
const lua = (expression: string) => `local x = 0; for i = 1, 20000 do x = x + i % 7 end; return ${expression}`;
const step = (id: string, type: string, depends_on: string[], more: Record<string, JsonValue>) => ({
  id,
  type,
  depends_on,
  ...more,
});

/** Graphs that between them use branches, joins, people, failures and values handed on. */
export const graphs: readonly Graph[] = [
  {
    steps: [
      step('double', 'lua_script', [], { script: lua('{ n = input.n * 2 }') }),
      step('large', 'condition', ['double'], {
        expression: 'steps.double.result.n > 100',
        then: ['up'],
        else: ['down'],
      }),
      step('up', 'lua_script', ['large'], { script: lua('"up " .. steps.double.result.n') }),
      step('down', 'lua_script', ['large'], { script: lua('"down " .. steps.double.result.n') }),
      step('join', 'lua_script', ['up', 'down'], { script: lua('input.n + 1') }),
    ],
  },
  {
    steps: [
      ...[1, 2, 3, 4, 5, 6].map(n => step(`part${n}`, 'lua_script', [], { script: lua(`input.n * ${n}`) })),
      step('sum', 'lua_script', ['part1', 'part2', 'part3', 'part4', 'part5', 'part6'], {
        script: lua('steps.part1.result + steps.part6.result'),
      }),
      step('check', 'condition', ['sum'], {
        expression: 'steps.sum.result % 3 != 0 || input.n % 2 == 0',
        mode: 'validate',
        message: 'the sum of {{input.n}} is {{steps.sum.result}}',
      }),
      step('after', 'lua_script', ['check'], { script: lua('true') }),
    ],
  },
  {
    steps: [
      step('prepare', 'lua_script', [], { script: lua('{ title = "Order " .. input.n }') }),
      step('approve', 'human_task', ['prepare'], { instructions: '{{steps.prepare.result.title}}' }),
      step('approved', 'condition', ['approve'], {
        expression: 'steps.approve.result.approved',
        then: ['ship'],
        else: ['refund'],
      }),
      step('ship', 'lua_script', ['approved'], { script: lua('"shipped " .. input.n') }),
      step('refund', 'lua_script', ['approved'], { script: lua('"refunded " .. input.n') }),
    ],
  },
];

const TENANT = 'faults';
const PROJECT = newId();

/** Publishes the graphs and returns `count` runs of them, alternating, with the input `{n: index}`. */
export async function prepareRuns(pool: Pool, count: number): Promise<StartRun[]> {
  const workflows: string[] = [];
  for (const graph of graphs) workflows.push(await publish(pool, graph));
  return Array.from({ length: count }, (_, n): StartRun => {
    const runId = newId();
    const data = {
      version: 1,
      input: { n },
      mode: 'normal' as const,
      trigger_type: 'api',
      trigger_steps: {},
      seed_results: {},
      session_id: runId,
      started_by: 'tester',
    };
    return { runId, tenantId: TENANT, projectId: PROJECT, workflowId: workflows[n % workflows.length] ?? '', data };
  });
}

async function publish(pool: Pool, graph: Graph): Promise<string> {
  const id = newId();
  await pool.query(
    `INSERT INTO workflows (id, tenant_id, project_id, name, description, status, graph, run_setup, revision,
                            latest_version, graph_checksum, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, 'w', '', 'published', $4, '{}', 1, 1, '', $3, to_timestamp(0), to_timestamp(0))`,
    [id, TENANT, PROJECT, JSON.stringify(graph)],
  );
  await pool.query(
    `INSERT INTO workflow_versions (workflow_id, version, tenant_id, graph_snapshot, run_setup, changelog,
                                    graph_checksum, published_by, published_at)
     VALUES ($1, 1, $2, $3, '{}', '', '', $4, to_timestamp(0))`,
    [id, TENANT, JSON.stringify(graph), PROJECT],
  );
  return id;
}
