import type { Pool } from 'pg';
import type { Services } from '../../../operation/services.ts';
import type { CheckScope, StepProblem } from '../../../orchestrator/ports/step-type.ts';
import {
  AGENT_INPUT,
  type RunToolKind,
  type RunToolOffer,
  type RunTools,
} from '../../../orchestrator/steps/agent/run-tools.ts';
import { isId } from '../../../platform/ids.ts';
import { whileDatabaseAway } from '../../../platform/postgres/while-away.ts';
import { toolName, toolOfWorkflow } from '../../workflows/tool-of-workflow.ts';
import { isCalledBy } from '../calls/call-cycles.ts';
import { findRunTools, type RunToolRow } from './store.ts';

/**
 * Lets agents use workflows and other agents of their own project as tools. Those of other projects are treated as
 * nonexistent.
 */
export function createRunTools({ pool }: Pick<Services, 'pool'>): RunTools {
  return {
    check: (scope, of) => check(pool, scope, of),
    offer: ({ tenantId, projectId }, of, signal) =>
      whileDatabaseAway(signal, () => offer(pool, { tenantId, projectId }, of)),
  };
}

type Of = { kind: RunToolKind; ids: readonly string[] };
type Scope = { tenantId: string; projectId: string };

async function offer(pool: Pool, scope: Scope, { kind, ids }: Of): Promise<RunToolOffer> {
  const rows = await readRows(pool, scope, { kind, ids });
  const offered: RunToolOffer = { tools: [], missing: [] };
  for (const id of ids) {
    const row = rows.get(id);
    const why = whyNot(kind, row);
    if (row === undefined || why !== null || row.version === null)
      offered.missing.push({ id, why: why?.message ?? '' });
    else
      offered.tools.push({
        name: id,
        ...toolFor(kind, row),
        ...NOT_DESTRUCTIVE,
        run: { version: row.version, name: nameOf(row) },
      });
  }
  return offered;
}

const NOT_DESTRUCTIVE = { destructive: false } as const;

function toolFor(kind: RunToolKind, row: RunToolRow) {
  if (kind === 'agent') {
    const description = row.description.trim() || 'Answers a prompt.';
    // The answer itself states whether it may quote text from outside.
    return {
      description: `Asks the agent “${row.name}”: ${description}`.slice(0, 4_000).toWellFormed(),
      inputSchema: AGENT_INPUT,
      readOnly: false,
      openWorld: false,
    };
  }
  const { description, inputSchema, readOnly } = toolOfWorkflow(row);
  return { description, inputSchema, readOnly, openWorld: true };
}

/** The name of a tool comes from that of its workflow or agent; models call tools by name, so the names are unique. */
const nameOf = ({ tool, name }: RunToolRow): string => toolName(tool?.name, name);

async function check(pool: Pool, scope: CheckScope, { kind, ids }: Of): Promise<StepProblem[]> {
  const lower = ids.map(id => id.toLowerCase());
  const rows = await readRows(pool, scope, { kind, ids: lower });
  const problems: StepProblem[] = [];
  for (const [index, id] of lower.entries()) {
    const path = kind === 'agent' ? 'agent_id' : `workflow_ids[${index}]`;
    const row = rows.get(id);
    const problem = id === scope.workflowId ? ITSELF[kind] : whyNot(kind, row);
    if (problem !== null) {
      // A disabled agent may be enabled again before the run.
      if (problem.code !== 'agent_disabled') problems.push({ path, ...problem });
    } else if (row?.version != null && (await isCalledBy(pool, scope, { workflowId: id, version: row.version })))
      problems.push({
        path,
        code: ITSELF[kind].code,
        message: 'calls, directly or not, the one it would be a tool of',
      });
  }
  return problems;
}

type Problem = Omit<StepProblem, 'path'>;

const ITSELF: Record<RunToolKind, Problem> = {
  workflow: { code: 'workflow_cycle', message: 'is the workflow that the agent is in' },
  agent: { code: 'agent_cycle', message: 'is the agent itself' },
};

/** Returns why no run can be started; null if one can. */
function whyNot(kind: RunToolKind, row: RunToolRow | undefined): Problem | null {
  const what = kind === 'agent' ? 'agent' : 'workflow';
  if (row === undefined) {
    const code = kind === 'agent' ? 'agent_not_found' : 'workflow_unknown';
    return { code, message: `the project has no ${what} of this id` };
  }
  if (row.status === 'archived') return { code: `${what}_archived`, message: `the ${what} is archived` };
  if (row.is_disabled) return { code: 'agent_disabled', message: 'the agent is disabled' };
  if (row.version === null) return { code: 'workflow_unpublished', message: 'the workflow has no published version' };
  return null;
}

async function readRows(pool: Pool, scope: Scope, { kind, ids }: Of): Promise<ReadonlyMap<string, RunToolRow>> {
  const known = ids.filter(isId);
  const rows = known.length === 0 ? [] : await findRunTools(pool, scope, { kind, ids: known });
  return new Map(rows.map(row => [row.id, row]));
}
