import type { Pool } from 'pg';
import type { Graph } from '../../../orchestrator/core/index.ts';
import { groupCalls } from '../../../platform/group-calls.ts';
import { findGraph, type RunScope } from '../store.ts';

type Version = { tenantId: string; workflowId: string; version: number };
type LookUps = {
  version: (scope: RunScope) => Promise<number | null>;
  graph: (version: Version) => Promise<Graph | null>;
};

/**
 * Returns the graph that a run executes; null if the run or its version is not in this project. A loop that calls a
 * workflow reads the outputs of many runs of one version at the same time: these calls share two round trips and one
 * graph object, which callers must not change.
 */
export async function findGraphOfRun(pool: Pool, scope: RunScope): Promise<Graph | null> {
  const { tenantId, workflowId } = scope;
  const lookUps = lookUpsOf.get(pool) ?? createLookUps(pool);
  lookUpsOf.set(pool, lookUps);
  const version = await lookUps.version(scope);
  return version === null ? null : lookUps.graph({ tenantId, workflowId, version });
}

// One per database pool, not one per module: two containers in a process (tests) share nothing.
const lookUpsOf = new WeakMap<Pool, LookUps>();

function createLookUps(pool: Pool): LookUps {
  return {
    version: groupCalls<RunScope, number | null>(
      ({ runId, workflowId, projectId, tenantId }) => `${runId} ${workflowId} ${projectId} ${tenantId}`,
      scopes => readVersions(pool, scopes),
    ),
    // One statement per version: a statement for several versions would hold several large graphs in memory at the same
    // time.
    graph: groupCalls<Version, Graph | null>(
      ({ workflowId, version, tenantId }) => `${workflowId} ${version} ${tenantId}`,
      versions => Promise.all(versions.map(version => findGraph(pool, version))),
    ),
  };
}

/** Returns the versions of runs in the order of `scopes`. The statement is prepared once per connection (`name`). */
async function readVersions(pool: Pool, scopes: readonly RunScope[]): Promise<(number | null)[]> {
  const { rows } = await pool.query<{ place: string; version: number }>({
    name: 'find_versions_of_runs',
    text: `SELECT k.place, r.version
             FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[])
                  WITH ORDINALITY k(run_id, tenant_id, project_id, workflow_id, place)
             JOIN runs r ON r.id = k.run_id AND r.tenant_id = k.tenant_id AND r.project_id = k.project_id
                        AND r.workflow_id = k.workflow_id`,
    values: [
      scopes.map(scope => scope.runId),
      scopes.map(scope => scope.tenantId),
      scopes.map(scope => scope.projectId),
      scopes.map(scope => scope.workflowId),
    ],
  });
  const found: (number | null)[] = scopes.map(() => null);
  for (const { place, version } of rows) found[Number(place) - 1] = version;
  return found;
}
