import type { JsonMap } from '../../core/index.ts';
import type { Attempt, Outcome } from '../../ports/step-type.ts';
import type { CallOutput, WorkflowCaller } from '../call-workflow/workflow-caller.ts';
import { STEP_TYPES } from '../descriptions.ts';
import { failed } from '../failure.ts';
import { agentIdOf, mayNotCall } from './lineage.ts';
import type { AgentWork, PlannedTool } from './plan.ts';
import type { Standing } from './run-authority.ts';
import { AGENTS, answerOfAgent, inputOfRun } from './run-tools.ts';

type Called = {
  attempt: Attempt;
  signal: AbortSignal;
  tool: PlannedTool & { run: NonNullable<PlannedTool['run']> };
  args: JsonMap;
  work: AgentWork;
  standing: Standing | undefined;
};

/** Starts the run of a workflow or agent that is a tool, in the version offered to the model. The step waits for its end (docs/adr/0020). */
export async function callRun(
  workflows: WorkflowCaller | undefined,
  { attempt, signal, tool, args, work, standing }: Called,
): Promise<Outcome> {
  if (workflows === undefined) return failed('step_type_unavailable', 'This server starts no other runs.');
  const { workflow_id: workflowId, version } = tool.run;
  const refused = mayNotCall(attempt, work.agent_id, { workflowId, isAgent: tool.instance_id === AGENTS });
  if (refused !== null) return refused;
  const called = { workflowId, version, input: inputOfRun(tool.instance_id, args) };
  const lineage = { withheldScopes: withheldOf(attempt, standing) };
  const found = await workflows.resolve(attempt.run, called, { lineage, signal });
  if (found.kind === 'failed') return failed(found.code, found.message);
  const { outside_input: outside, private_input: hidden } = attempt.step;
  const agentId = agentIdOf(attempt, work.agent_id);
  const origin = {
    ...(typeof outside === 'string' && { outsideInput: `from an agent that read text from outside, ${outside}` }),
    ...(typeof hidden === 'string' && { privateInput: `from an agent that read private data, ${hidden}` }),
  };
  return { kind: 'calling', call: { ...called, detach: false, agentId, ...origin } };
}

/** Returns the scopes that the start of the outermost run lacked, or that its token lacks now. */
function withheldOf({ lineage }: Attempt, standing: Standing | undefined): string[] {
  const withheld = lineage?.withheldScopes ?? [];
  if (standing?.kind !== 'held') return [...withheld];
  const guarded = Object.values(STEP_TYPES).flatMap(type => ('startScope' in type ? [type.startScope].flat() : []));
  return [...new Set([...withheld, ...guarded.filter(scope => !standing.scopes.includes(scope))])];
}

/** Returns the output of a called run for the model. */
export async function outputOfRun(
  workflows: WorkflowCaller | undefined,
  {
    attempt,
    child,
    tool,
    signal,
  }: Pick<Called, 'attempt' | 'signal'> & { child: NonNullable<Attempt['child']>; tool: PlannedTool | undefined },
): Promise<CallOutput> {
  if (workflows === undefined || tool === undefined)
    return { kind: 'failed', code: 'unknown_tool', message: 'There is no such tool.' };
  const found = await workflows.output(attempt.run, child, signal);
  if (found.kind === 'failed') return { ...found, message: `The run ${child.runId}: ${found.message}` };
  return tool.instance_id === AGENTS ? { kind: 'output', output: answerOfAgent(found.output) } : found;
}
