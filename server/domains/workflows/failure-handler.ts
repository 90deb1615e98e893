import type { Services } from '../../operation/services.ts';
import type { Graph } from '../../orchestrator/core/graph.ts';
import type { CheckScope } from '../../orchestrator/ports/step-type.ts';
import { type GraphProblem, ProblemList } from '../../orchestrator/validation/index.ts';
import { isId } from '../../platform/ids.ts';
import { findWorkflow } from './store.ts';

/**
 * Returns why the workflow that `on_failure` names could not be started; nothing if the graph has no `on_failure` or
 * its value is no id.
 */
export async function failureHandlerProblems(
  prisma: Services['prisma'],
  graph: Graph,
  scope: CheckScope,
): Promise<GraphProblem[]> {
  const named: unknown = graph.on_failure?.workflow_id;
  const id = typeof named === 'string' ? named.toLowerCase() : '';
  if (!isId(id)) return [];
  const problem = (code: string, message: string): GraphProblem[] => {
    const found = new ProblemList();
    found.push({ step_id: null, path: 'on_failure.workflow_id', code, message });
    return found.toReport();
  };
  if (id === scope.workflowId) return problem('workflow_cycle', 'the workflow would handle its own failures');
  const workflow = await findWorkflow(prisma, scope, id);
  if (workflow === null) return problem('workflow_unknown', 'the project has no workflow of this id');
  if (workflow.status === 'archived') return problem('workflow_archived', 'the workflow is archived');
  if (workflow.latestVersion === null) return problem('workflow_unpublished', 'the workflow has no published version');
  return [];
}
