import { type Graph, type GraphStep, innerSteps, type JsonValue } from '../../../orchestrator/core/index.ts';
import { holdsTemplate } from '../../../orchestrator/languages/templates.ts';
import type { StandInReason, StepType, StepTypes, TrialFacts } from '../../../orchestrator/ports/step-type.ts';
import { digestOf } from '../../../orchestrator/steps/agent/turn-result.ts';
import { ownFields } from '../../../orchestrator/steps/common-fields.ts';
import { isObject } from '../../../platform/json.ts';

/** A step that a trial replaces unless a person lets it be executed. */
export type Effect = { step: string; type: string; why: StandInReason; hosts: string[] | null };
export type StandIn = Effect & { source: 'recorded' | 'example' };
/** The graph of a trial, what stands in for a step in it, and what is executed because a person agreed to it. */
export type Prepared = {
  graph: Graph;
  standIns: StandIn[];
  executed: Effect[];
  /** Digests of the executed steps that send the same in each run. */
  seen: string[];
};

/** `toolOf` returns the tool that a step names, in its published version; undefined if it cannot be known. */
export type TrialWorld = Omit<TrialFacts, 'tool'> & {
  types: StepTypes;
  toolOf(step: GraphStep): Promise<TrialFacts['tool']>;
  /** Steps that the trial executes because a person agreed, whatever they do; the id of a loop stands for its steps. */
  really: { steps: ReadonlySet<string>; budgetCredits: number } | null;
  /** Returns where the step may send something; null if only the run decides that. */
  hostsOf(step: GraphStep): Promise<string[] | null>;
  /**
   * Digests of requests that a person has seen, where a model wrote the graph or the input after it had read private text or text from
   * outside: only these are sent. null: a person wrote them.
   */
  seen: ReadonlySet<string> | null;
  /** Returns the result of the step when it was last executed; undefined if none is known. */
  recorded(step: GraphStep): JsonValue | undefined;
};

/** Fields of a step that its stand-in keeps: where it is in the graph, and whether it is executed. */
const KEPT = ['id', 'name', 'depends_on', 'disabled', 'gated', 'on_error'] as const;

/**
 * Returns the graph that a trial executes: steps that would write, send, wait, ask people or start runs are replaced by stand-ins.
 * What cannot be known to be harmless is replaced. A failure of the trial starts no other workflow.
 */
export async function withStandIns(graph: Graph, world: TrialWorld): Promise<Prepared> {
  const found: Found = { standIns: [], executed: [], seen: [] };
  const steps: GraphStep[] = [];
  for (const step of graph.steps) steps.push(await replaced(step, world, found, null));
  const { on_failure: _, notes: _notes, ...rest } = graph as Graph & { notes?: unknown };
  return { graph: { ...rest, steps }, ...found };
}

type Found = Omit<Prepared, 'graph'>;

async function replaced(step: GraphStep, world: TrialWorld, found: Found, loop: string | null): Promise<GraphStep> {
  const inner = innerSteps(step);
  if (inner !== null) {
    const steps: GraphStep[] = [];
    for (const each of inner) steps.push(await replaced(each, world, found, loop ?? step.id));
    return { ...step, steps: steps as JsonValue[] };
  }
  const type = world.types.get(step.type);
  const { maySend, now } = world;
  const facts = { tool: type?.trial?.callsTool ? await world.toolOf(step) : undefined, maySend, now };
  const own = type?.trial ? type.trial.replacedBecause(step, facts) : 'writes';
  const id = loop ?? step.id;
  const why = own ?? (isUnseen(step, type, world, id) ? 'unseen' : null);
  if (why === null) return step;
  const effect = { step: id, type: step.type, why, hosts: await world.hostsOf(step) };
  if (world.really?.steps.has(effect.step)) {
    found.executed.push(effect);
    if (!holdsTemplate(ownFields(step) as JsonValue)) found.seen.push(digestOfRequest(step));
    return withinBudget(step, world.really.budgetCredits);
  }
  // The results of a loop's steps are not kept under their own ids.
  const recorded = loop === null ? world.recorded(step) : undefined;
  found.standIns.push({ ...effect, source: recorded === undefined ? 'example' : 'recorded' });
  const kept = Object.fromEntries(KEPT.flatMap(name => (step[name] === undefined ? [] : [[name, step[name]]])));
  const raw = type?.rawFields ?? [];
  const inputs = Object.fromEntries(Object.entries(ownFields(step)).filter(([name]) => !raw.includes(name)));
  const result = recorded ?? type?.trial?.example?.(step, facts) ?? null;
  return { ...kept, id: step.id, type: 'stand_in', stands_for: step.type, inputs, result };
}

/**
 * Whether the step may send what a model wrote, and no person has seen. Data of the run may be in what holds templates. A step that a
 * person lets be executed was replaced for this reason, perhaps in a trial that a model had asked for.
 */
function isUnseen(step: GraphStep, type: StepType | undefined, { seen, really }: TrialWorld, id: string): boolean {
  if (type?.trial?.staysInside === true) return false;
  if (really?.steps.has(id) === true) return true;
  if (seen === null) return false;
  return holdsTemplate(ownFields(step) as JsonValue) || !seen.has(digestOfRequest(step));
}

const digestOfRequest = (step: GraphStep): string => digestOf([step.type, ownFields(step) as JsonValue]);

/** An agent keeps to the budget by itself, before each turn. */
function withinBudget(step: GraphStep, budget: number): GraphStep {
  if (step.type !== 'agent') return step;
  const limits = isObject(step.limits) ? step.limits : {};
  const own = typeof limits.budget_credits === 'number' ? limits.budget_credits : Number.POSITIVE_INFINITY;
  return { ...step, limits: { ...limits, budget_credits: Math.min(own, budget) } };
}
