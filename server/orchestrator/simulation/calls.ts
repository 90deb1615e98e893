import {
  addedId,
  agentStepType,
  type ChildCall,
  type Graph,
  type GraphStep,
  type RunStartedData,
} from '../core/index.ts';
import { randomGraph } from './graphs.ts';
import { allSteps, publishedStep } from './growth.ts';
import { type StepPlan, stepPlan } from './plans.ts';
import type { Random } from './random.ts';
import type { Knobs, Scenario } from './scenario.ts';

/** The workflow that a step calls. */
export type CallPlan = {
  readonly workflowId: string;
  readonly detach: boolean;
  /** The agent whose model calls it. */
  readonly agentId?: string;
};

/** A workflow that steps call, and the behavior of its steps in every run of it. */
export type CalledWorkflow = Pick<Scenario, 'graph' | 'plans'>;

/**
 * The maximum depth of calls between drawn workflows. A workflow that calls itself continues to the limit of the
 * engine.
 */
const DEEPEST = 2;
/**
 * The oddities of a step that calls a workflow. The other oddities are about results, but this step's result is that of the
 * called run.
 */
const OF_CALLS: readonly StepPlan['kind'][] = ['hangs', 'endless', 'poison', 'throws'];

/** Makes some steps of a graph call workflows, at least one if any step can. Returns the called workflows. */
export function addCalls(random: Random, knobs: Knobs, workflowId: string, graph: Graph): Map<string, CalledWorkflow> {
  const workflows = new Map<string, CalledWorkflow>();
  addCallsTo(random, knobs, { workflowId, graph, depth: 1 }, workflows);
  return workflows;
}

type Caller = { workflowId: string; graph: Graph; depth: number };

function addCallsTo(random: Random, knobs: Knobs, of: Caller, workflows: Map<string, CalledWorkflow>): void {
  const able = allSteps(of.graph).filter(({ type }) => type === 'lua_script' || type === 'mcp_call');
  const [first] = able;
  if (first === undefined) return;
  // Only a single step without retries calls its own workflow: otherwise it would call itself a thousand times.
  const callsItself = of.depth > 1 && random.chance(0.15);
  const some = random.some(able, 0.3);
  const chosen = callsItself || some.length === 0 ? [first] : some;
  for (const [index, step] of chosen.entries()) {
    const workflowId = callsItself ? of.workflowId : `${of.workflowId}/${index}`;
    if (callsItself) step.retry_count = 0;
    step.type = 'call_workflow';
    step.workflow_id = workflowId;
    if (random.chance(0.15)) step.detach = true;
    if (random.chance(0.2)) step.timeout_s = 1 + random.below(8);
    if (!callsItself) addWorkflow(random, knobs, { workflowId, depth: of.depth + 1 }, workflows);
  }
}

/** Makes some calls of agents start runs of a new workflow, which is added to the called workflows. */
export function addRunTools(
  random: Random,
  knobs: Knobs,
  { workflowId, plans, workflows }: { workflowId: string; plans: Map<string, StepPlan>; workflows: Workflows },
): void {
  const tool = `${workflowId}/tool`;
  for (const [id, plan] of plans) {
    const { parent: agentId = '' } = agentStepType(id) === 'agent_tool' ? (addedId(id) ?? {}) : {};
    // The cost of a called run depends on the cost of its attempts, so agents with a budget call no workflows.
    const { budget = null } = plans.get(agentId)?.agent?.plan ?? { budget: 0 };
    if (budget !== null || !random.chance(0.6)) continue;
    const kind = OF_CALLS.includes(plan.kind) ? plan.kind : 'works';
    plans.set(id, { ...plan, kind, call: { workflowId: tool, detach: false, agentId } });
    if (!workflows.has(tool)) addWorkflow(random, knobs, { workflowId: tool, depth: DEEPEST }, workflows);
  }
}

type Workflows = Map<string, CalledWorkflow>;

function addWorkflow(
  random: Random,
  knobs: Knobs,
  { workflowId, depth }: Omit<Caller, 'graph'>,
  workflows: Map<string, CalledWorkflow>,
): void {
  const graph = randomGraph(random, 3, 1);
  if (depth <= DEEPEST && random.chance(0.4)) addCallsTo(random, knobs, { workflowId, graph, depth }, workflows);
  const plans = new Map(graph.steps.map(step => [step.id, stepPlan(random, knobs, step, false)]));
  workflows.set(workflowId, { graph, plans: withCalls(graph, plans) });
}

/** Returns the plans, with the calls of the steps that call workflows. */
export function withCalls(graph: Graph, plans: ReadonlyMap<string, StepPlan>): Map<string, StepPlan> {
  return new Map(
    [...plans].map(([id, plan]) => {
      const step = publishedStep(graph, id);
      if (step?.type !== 'call_workflow') return [id, plan];
      const kind = OF_CALLS.includes(plan.kind) ? plan.kind : 'works';
      const call = { workflowId: String(step.workflow_id), detach: step.detach === true };
      return [id, { ...plan, kind, call }];
    }),
  );
}

/** Returns the scenario of a run that a step of another one calls. */
export function calledScenario(parent: Scenario, step: string, call: ChildCall): Scenario {
  const workflow = parent.workflows.get(call.workflow_id);
  if (workflow === undefined) throw new Error(`there is no workflow "${call.workflow_id}"`);
  const { runId: run_id, workflowId: workflow_id, data: started } = parent;
  const depth = depthOf(started) + 1;
  const data: RunStartedData = {
    ...started,
    version: call.version,
    input: call.input,
    mode: 'normal',
    trigger_type: 'call_workflow',
    trigger_steps: {},
    seed_results: {},
    beneath: undefined,
    parent: { run_id, workflow_id, step_id: step, depth, ...(call.detach && { detached: true }) },
  };
  const { tenantId, projectId, workflows } = parent;
  const harmless = { request: {}, unchecked: false, unstorable: false, deadly: false };
  return {
    runId: call.run_id,
    tenantId,
    projectId,
    workflowId: call.workflow_id,
    workflows,
    ...workflow,
    data,
    ...harmless,
  };
}

/** Returns the number of calls and requests that lead to a run. */
export const depthOf = ({ parent, beneath }: Pick<RunStartedData, 'parent' | 'beneath'>): number =>
  parent?.depth ?? beneath?.depth ?? 0;

/** Whether the result of a step is the id of a run, which cannot be known in advance. */
export const returnsRunId = ({ type, detach }: GraphStep): boolean => type === 'call_workflow' && detach === true;
