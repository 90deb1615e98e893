import { type Graph, type GraphStep, innerSteps, type JsonValue } from '../../../orchestrator/core/index.ts';
import { holdsTemplate } from '../../../orchestrator/languages/templates.ts';
import type { StandInReason, StepType, StepTypes, TrialFacts } from '../../../orchestrator/ports/step-type.ts';
import { digestOf } from '../../../orchestrator/steps/agent/turn-result.ts';
import { ownFields } from '../../../orchestrator/steps/common-fields.ts';
import { isObject } from '../../../platform/json.ts';

/** A step that a trial replaces, unless a person has agreed to its execution. */
export type ReplaceableStep = { step: string; type: string; why: StandInReason; hosts: string[] | null };
export type StandIn = ReplaceableStep & { source: 'recorded' | 'example' };
/** The graph of a trial, its stand-ins, and the steps that it executes because a person has agreed. */
export type TrialGraph = {
  graph: Graph;
  standIns: StandIn[];
  executed: ReplaceableStep[];
  /** Digests of the executed steps whose requests are the same in each run. */
  seen: string[];
};

/** The facts about the project and the request from which `withStandIns` decides. */
export type TrialWorld = Omit<TrialFacts, 'tool'> & {
  types: StepTypes;
  /** Returns the published version of the tool that a step names; undefined if only the run decides the tool. */
  toolOf(step: GraphStep): Promise<TrialFacts['tool']>;
  /** The steps that a live trial executes because a person has agreed. The id of a loop includes its steps. Null: the trial is not live. */
  live: { steps: ReadonlySet<string>; budgetCredits: number } | null;
  /** Returns the hosts to which the step may send data; null if only the run decides them. */
  hostsOf(step: GraphStep): Promise<string[] | null>;
  /**
   * Digests of the requests that a person has seen. The trial sends no others, because a model wrote the graph or the input after it had read
   * private text or text from outside. Null: no model did, so that requests need no digest.
   */
  seen: ReadonlySet<string> | null;
  /** Returns the result of the step in an earlier run; undefined if none is known. */
  recorded(step: GraphStep): JsonValue | undefined;
};

/** Fields that a stand-in takes from its step. They hold its place in the graph and whether it is executed. */
const KEPT_FIELDS = ['id', 'name', 'depends_on', 'disabled', 'gated', 'on_error'] as const;

/**
 * Returns the graph that a trial executes. Stand-ins replace steps that would write, send, wait, ask people or start runs, and steps that are
 * not known to be harmless. The graph has no failure handler.
 */
export async function withStandIns(graph: Graph, world: TrialWorld): Promise<TrialGraph> {
  const found: Found = { standIns: [], executed: [], seen: [] };
  const steps: GraphStep[] = [];
  for (const step of graph.steps) steps.push(await replaceStep(step, world, found, null));
  const { on_failure: _, notes: _notes, ...rest } = graph as Graph & { notes?: unknown };
  return { graph: { ...rest, steps }, ...found };
}

type Found = Omit<TrialGraph, 'graph'>;

async function replaceStep(step: GraphStep, world: TrialWorld, found: Found, loop: string | null): Promise<GraphStep> {
  const inner = innerSteps(step);
  if (inner !== null) {
    const steps: GraphStep[] = [];
    for (const each of inner) steps.push(await replaceStep(each, world, found, loop ?? step.id));
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
  if (world.live?.steps.has(effect.step)) {
    found.executed.push(effect);
    if (!holdsTemplate(ownFields(step) as JsonValue)) found.seen.push(digestOfRequest(step));
    return withinBudget(step, world.live.budgetCredits);
  }
  // The results of a loop's steps are not kept under their own ids.
  const recorded = loop === null ? world.recorded(step) : undefined;
  found.standIns.push({ ...effect, source: recorded === undefined ? 'example' : 'recorded' });
  const kept = Object.fromEntries(KEPT_FIELDS.flatMap(name => (step[name] === undefined ? [] : [[name, step[name]]])));
  const raw = type?.rawFields ?? [];
  const inputs = Object.fromEntries(Object.entries(ownFields(step)).filter(([name]) => !raw.includes(name)));
  const result = recorded ?? type?.trial?.example?.(step, facts) ?? null;
  return { ...kept, id: step.id, type: 'stand_in', stands_for: step.type, inputs, result };
}

/**
 * Returns whether the step may send text that a model wrote and no person has seen. Templates can add data of the run to a request. A live
 * step counts as unseen, because an earlier trial may have replaced it for this reason.
 */
function isUnseen(step: GraphStep, type: StepType | undefined, { seen, live }: TrialWorld, id: string): boolean {
  if (type?.trial?.staysInside === true) return false;
  if (live?.steps.has(id) === true) return true;
  if (seen === null) return false;
  return holdsTemplate(ownFields(step) as JsonValue) || !seen.has(digestOfRequest(step));
}

const digestOfRequest = (step: GraphStep): string => digestOf([step.type, ownFields(step) as JsonValue]);

/** Limits the budget of an agent, which checks it before each turn. Other steps are returned unchanged. */
function withinBudget(step: GraphStep, budget: number): GraphStep {
  if (step.type !== 'agent') return step;
  const limits = isObject(step.limits) ? step.limits : {};
  const own = typeof limits.budget_credits === 'number' ? limits.budget_credits : Number.POSITIVE_INFINITY;
  return { ...step, limits: { ...limits, budget_credits: Math.min(own, budget) } };
}
