import type { Services } from '../../operation/services.ts';
import type { Graph } from '../../orchestrator/core/graph.ts';
import { type GraphProblem, ProblemList } from '../../orchestrator/validation/index.ts';
import type { ProjectScope } from './store.ts';
import { distinctNames } from './tool-names.ts';
import { toolName, toolOfWorkflow, type WorkflowTool } from './tool-of-workflow.ts';
import { type DeclaredTool, listDeclaredTools, readToolSources } from './tools-queries.ts';

/** A published workflow of a project that declares a tool, with a name that is unique in the project. */
export type NamedTool = { id: string; version: number; name: string };

/** Returns the workflows of a project that are tools, with their names. `taken`: names that other tools have. */
export async function namedTools(
  { pool }: Pick<Services, 'pool'>,
  scope: ProjectScope,
  taken?: ReadonlySet<string>,
): Promise<NamedTool[]> {
  const declared = await listDeclaredTools(pool, scope);
  const names = distinctNames(declared.map(wanted), taken);
  return declared
    .map(({ id, version, name }) => ({ id, version, name: names.get(id) ?? name }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const wanted = ({ id, name, toolName: declared }: DeclaredTool) => ({
  id,
  name: toolName(declared ?? undefined, name),
});

/** Returns these tools in full, with their unique names. Omits a tool that has been archived meanwhile. */
export async function describeTools(
  { pool }: Pick<Services, 'pool'>,
  scope: ProjectScope,
  tools: readonly NamedTool[],
): Promise<(WorkflowTool & { id: string })[]> {
  const sources = await readToolSources(
    pool,
    scope,
    tools.map(({ id }) => id),
  );
  return tools.flatMap(({ id, name }) => {
    const source = sources.get(id);
    return source === undefined ? [] : [{ ...toolOfWorkflow(source), id, name }];
  });
}

/**
 * Returns a warning for a tool with the same name as a published workflow of the project: then neither keeps the name.
 */
export async function toolNameWarnings(
  { pool }: Pick<Services, 'pool'>,
  { graph, name }: { graph: Graph; name: string },
  scope: ProjectScope & { workflowId?: string | undefined },
): Promise<GraphProblem[]> {
  if (graph.tool === undefined) return [];
  const own = toolName(graph.tool.name, name);
  const others = (await listDeclaredTools(pool, scope)).filter(({ id }) => id !== scope.workflowId);
  const other = others.find(each => wanted(each).name === own);
  if (other === undefined) return [];
  const found = new ProblemList();
  found.push({
    step_id: null,
    path: 'tool.name',
    code: 'tool_name_taken',
    message: `the workflow “${other.name.slice(0, 80)}” is the tool “${own}”, too: the names of both end with a part of their ids`,
  });
  return found.toReport();
}
