import type { Graph } from '../core/index.ts';
import type { WriterLimits } from '../log/index.ts';
import type { StepPlan } from './plans.ts';
import type { Random } from './random.ts';
import { type Scenario, TENANTS } from './scenario.ts';

/**
 * Returns many runs of one tenant that end at the same time, each with many events: they wait until the same second,
 * and then all other steps are skipped.
 */
export function randomLargeEnds(random: Random, first: number): Scenario[] {
  const tenantId = random.pick(TENANTS);
  const skipped = 5 + random.below(30);
  return Array.from({ length: 5 + random.below(8) }, (_, index) => {
    const graph = largeGraph(skipped);
    return {
      runId: `run-${first + index}`,
      tenantId,
      projectId: 'project',
      workflowId: `workflow-${first + index}`,
      graph,
      data: {
        version: 1,
        input: {},
        mode: 'normal',
        trigger_type: 'manual',
        trigger_steps: {},
        seed_results: {},
        session_id: 'session',
        started_by: 'ann',
      },
      plans: new Map(graph.steps.map(({ id }) => [id, TOGETHER])),
      workflows: new Map(),
      request: {},
      unchecked: false,
      unstorable: false,
      deadly: false,
    };
  });
}

/** Returns limits at which these ends exceed the share of their tenant. */
export function limitsForLargeEnds(random: Random): Pick<WriterLimits, 'queuedRows' | 'batchRows' | 'quantumRows'> {
  const queuedRows = 30 + random.below(90);
  const batchRows = 8 + random.below(32);
  return { queuedRows, batchRows, quantumRows: Math.floor(batchRows / 8) };
}

const largeGraph = (skipped: number): Graph => ({
  steps: [
    { id: 'wait', type: 'wait' },
    ...Array.from({ length: skipped }, (_, index) => ({
      id: `s${index}`,
      type: 'lua_script',
      disabled: true,
      depends_on: ['wait'],
    })),
  ],
});

const TOGETHER: StepPlan = {
  kind: 'works',
  failures: 0,
  retryable: false,
  result: null,
  together: true,
  loop: null,
  agent: null,
  call: null,
};
