import type { StepTypes } from '../../../contract/step-type.ts';
import {
  type Graph,
  type GraphStep,
  innerSteps,
  type JsonMap,
  type JsonValue,
} from '../../../orchestrator/core/index.ts';
import { ownFields } from '../../../orchestrator/steps/common-fields.ts';
import { hasTemplate } from '../../../orchestrator/steps/templates.ts';
import { isObject } from '../../../platform/json.ts';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { exampleValue } from './example-value.ts';

/** Why a step is not executed in a trial. */
export type Why = 'writes' | 'sends' | 'asks_people' | 'waits' | 'starts_runs' | 'unknown_tool';
export type StandIn = { step: string; type: string; why: Why; source: 'recorded' | 'example' };

export type TrialWorld = {
  types: StepTypes;
  /** The tool that a step names, in the published version; undefined if it cannot be known. */
  toolOf(step: GraphStep): Promise<McpTool | undefined>;
  /** Whether the person may send requests: a viewer's trial sends none. */
  maySend: boolean;
  /** What the step returned when it was last executed; undefined if nothing is known. */
  recorded(step: GraphStep): JsonValue | undefined;
  /** The instant at which the trial begins. */
  now: string;
};

/** Fields of a step that its stand-in keeps: where it is in the graph, and whether it is executed. */
const KEPT = ['id', 'name', 'depends_on', 'disabled', 'gated', 'on_error'] as const;

/**
 * Returns the graph that a trial executes: steps that would write, send, wait, ask people or start runs are replaced by stand-ins.
 * What cannot be known to be harmless is replaced. A failure of the trial starts no other workflow.
 */
export async function withStandIns(graph: Graph, world: TrialWorld): Promise<{ graph: Graph; standIns: StandIn[] }> {
  const standIns: StandIn[] = [];
  const steps: GraphStep[] = [];
  for (const step of graph.steps) steps.push(await replaced(step, world, standIns, null));
  const { on_failure: _, notes: _notes, ...rest } = graph as Graph & { notes?: unknown };
  return { graph: { ...rest, steps }, standIns };
}

async function replaced(
  step: GraphStep,
  world: TrialWorld,
  standIns: StandIn[],
  loop: string | null,
): Promise<GraphStep> {
  const inner = innerSteps(step);
  if (inner !== null) {
    const steps: GraphStep[] = [];
    for (const each of inner) steps.push(await replaced(each, world, standIns, loop ?? step.id));
    return { ...step, steps: steps as JsonValue[] };
  }
  const tool = step.type === 'mcp_call' ? await world.toolOf(step) : undefined;
  const why = whyNot(step, tool, world);
  if (why === null) return step;
  // The results of a loop's steps are not kept under their own ids.
  const recorded = loop === null ? world.recorded(step) : undefined;
  standIns.push({
    step: loop ?? step.id,
    type: step.type,
    why,
    source: recorded === undefined ? 'example' : 'recorded',
  });
  const kept = Object.fromEntries(KEPT.flatMap(name => (step[name] === undefined ? [] : [[name, step[name]]])));
  const raw = world.types.get(step.type)?.rawFields ?? [];
  const inputs = Object.fromEntries(Object.entries(ownFields(step)).filter(([name]) => !raw.includes(name)));
  const result = recorded ?? exampleResult(step, tool, world.now);
  return { ...kept, id: step.id, type: 'stand_in', stands_for: step.type, inputs, result };
}

function whyNot(step: GraphStep, tool: McpTool | undefined, { maySend }: TrialWorld): Why | null {
  switch (step.type) {
    case 'lua_script':
    case 'condition':
    case 'llm_call':
      return null;
    case 'human_task':
      return 'asks_people';
    case 'wait':
      return 'waits';
    case 'call_workflow':
      return 'starts_runs';
    case 'mcp_call':
      if (tool === undefined) return 'unknown_tool';
      return tool.annotations?.readOnlyHint === true ? null : 'writes';
    case 'http_request':
      return maySend && isFixedRead(step) ? null : 'sends';
    default:
      return 'writes';
  }
}

/** A request that only reads, and cannot tell anybody what the run has read: nothing in it comes from the run. */
function isFixedRead(step: GraphStep): boolean {
  const { method = 'GET', ...rest } = ownFields(step);
  return (method === 'GET' || method === 'HEAD') && !hasTemplateWithin(rest);
}

function hasTemplateWithin(value: JsonValue): boolean {
  if (typeof value === 'string') return hasTemplate(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => hasTemplate(key) || hasTemplateWithin(inner as JsonValue));
}

/** What a step of this type could return. */
function exampleResult(step: GraphStep, tool: McpTool | undefined, now: string): JsonValue {
  switch (step.type) {
    case 'human_task':
      return { ...objectOf(exampleValue(step.form)), approved: true, completed_by: 'stand-in', completed_at: now };
    case 'wait':
      return { waited_until: now };
    case 'http_request':
      return { status: 200, headers: {}, body: null };
    case 'agent':
      return { text: 'example', object: exampleValue(step.response_schema), ended_by: 'answered', complete: true };
    case 'mcp_call':
      return exampleValue(tool?.outputSchema);
    default:
      return null;
  }
}

const objectOf = (value: JsonValue): JsonMap => (isObject(value) ? (value as JsonMap) : {});
