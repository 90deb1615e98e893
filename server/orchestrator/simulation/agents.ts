import {
  type AgentLimit,
  type AgentPlan,
  type Graph,
  type JsonValue,
  MAX_SAME_CALLS,
  type TurnCall,
} from '../core/index.ts';
import { conversationOf } from './agent-conversations.ts';
import { allSteps, publishedStep } from './growth.ts';
import type { History, StepHistory } from './history.ts';
import { type StepPlan, stepPlan } from './plans.ts';
import type { Random } from './random.ts';
import type { Knobs } from './scenario.ts';

/** The script of an agent: the calls of each turn. The turn after the last of these answers. */
export type AgentScript = {
  readonly plan: AgentPlan;
  readonly turns: readonly (readonly TurnCall[])[];
  /** Tokens of the conversation after each turn. */
  readonly contexts: readonly number[];
  /** Turns that are refused because the conversation is too long. */
  readonly refused: readonly number[];
};

const OF_AGENTS: readonly StepPlan['kind'][] = ['hangs', 'endless', 'poison', 'throws'];
const MAX_CALLS = 3;

/** Turns some steps of a graph and of its loops into agents, at least one if any step can be an agent. */
export function addAgents(random: Random, graph: Graph): void {
  const all = allSteps(graph);
  const able = all.filter(({ type }) => type === 'lua_script' || type === 'mcp_call');
  const chosen = random.some(able, 0.25);
  const [first] = able;
  if (chosen.length === 0 && first !== undefined) chosen.push(first);
  for (const step of chosen) {
    step.type = 'agent';
    delete step.retry_count;
    delete step.retry_delay_s;
    if (graph.steps.includes(step) && random.chance(0.8)) {
      step.depends_on = [];
      delete step.disabled;
      delete step.gated;
    }
  }
}

/**
 * Returns the plans of the agents among these steps, and of all steps that they may add. `plans`: the plans of all
 * steps, by id.
 */
export function agentPlans(
  random: Random,
  knobs: Knobs,
  plans: ReadonlyMap<string, StepPlan>,
  graph: Graph,
): Map<string, StepPlan> {
  const all = new Map<string, StepPlan>();
  for (const [id, plan] of plans) {
    if (publishedStep(graph, id)?.type !== 'agent') continue;
    const script = randomScript(random);
    const kind = OF_AGENTS.includes(plan.kind) ? plan.kind : 'works';
    all.set(id, { ...plan, kind, failures: 0, agent: script });
    addPlansOf(random, knobs, id, script, all);
  }
  return all;
}

function addPlansOf(random: Random, knobs: Knobs, id: string, script: AgentScript, all: Map<string, StepPlan>): void {
  const draw = (step: string, type: string) => all.set(step, stepPlan(random, knobs, { id: step, type }, false));
  for (let turn = 1; turn <= mostTurns(script); turn++) {
    draw(`${id}.${turn}`, 'agent_turn');
    draw(`${id}.c${2 * turn - 1}`, 'agent_compaction');
    draw(`${id}.c${2 * turn}`, 'agent_compaction');
    for (let call = 1; call <= MAX_CALLS; call++) {
      draw(`${id}.${turn}.${call}`, 'agent_tool');
      draw(`${id}.${turn}.${call}.ok`, 'human_task');
    }
  }
}

/** Adds the turn that answers, the closing turn and the repeated turns. */
const mostTurns = ({ turns, refused }: AgentScript): number => turns.length + 2 + refused.length;

function randomScript(random: Random): AgentScript {
  // An occasional agent that repeats the same call.
  const circles = random.chance(0.1);
  const turns = Array.from({ length: circles ? 6 : random.below(4) }, () =>
    Array.from({ length: random.below(MAX_CALLS + 1) }, () =>
      granted({
        tool: circles ? 'same' : random.pick(['search', 'send', 'read']),
        hash: circles ? 'same' : String(random.below(1_000)),
        policy: random.pick<TurnCall['policy']>(circles ? ['none'] : ['auto', 'auto', 'ask', 'none']),
      }),
    ),
  );
  const plan: AgentPlan = {
    type: 'agent',
    model: 'test/model',
    max_turns: circles ? 10 : 1 + random.below(4),
    max_tool_calls: 1 + random.below(6),
    ...(random.chance(0.2) && { budget: 1 + random.below(60) }),
    ...(random.chance(0.2) && { timeout_s: 1 + random.below(8) }),
    on_limit: random.pick(['answer', 'answer', 'fail']),
  };
  const { budget, timeout_s = 1, on_limit } = plan;
  const closes = timeout_s % 2 === 0 && on_limit === 'answer' ? { closing_s: timeout_s / 2 } : {};
  const fitted = budget !== undefined && budget % 2 === 0 ? { fitted: true as const } : {};
  return { plan: { ...plan, ...fitted, ...closes, ...randomContext(random) }, turns, ...randomConversation(random) };
}

/** Whether a turn finds that another one would not fit the budget. Derived from the drawn budget. */
export const closesItself = ({ plan }: AgentScript, turn: number): boolean =>
  plan.fitted === true && plan.budget !== undefined && plan.budget % 3 === 0 && turn === 1 + (plan.budget % 4);

/** Some calls of `send` are carried out immediately because a person has allowed them permanently. */
const granted = (call: TurnCall): TurnCall =>
  call.tool === 'send' && call.policy === 'auto' ? { ...call, grant: `grant-${call.hash}` } : call;

const COMPACTED_SHARE = 0.4;
const MAX_CONTEXT = 100;

function randomContext(random: Random): Pick<AgentPlan, 'context' | 'compact_at'> {
  if (!random.chance(COMPACTED_SHARE)) return {};
  return { compact_at: random.below(MAX_CONTEXT), ...(random.chance(0.4) && { context: random.below(MAX_CONTEXT) }) };
}

function randomConversation(random: Random): Pick<AgentScript, 'contexts' | 'refused'> {
  const refused = random.chance(0.2) ? [1 + random.below(3)] : [];
  const [first] = refused;
  if (first !== undefined && random.chance(0.3)) refused.push(first + 1 + random.below(2));
  return { contexts: Array.from({ length: 8 }, () => random.below(MAX_CONTEXT)), refused };
}

/** The next action expected of an agent, derived from the log alone. */
export type NextOfAgent =
  | { is: 'wait' }
  | { is: 'turn'; closing: AgentLimit | null }
  | { is: 'calls'; numbers: number[] }
  | { is: 'compact' }
  | { is: 'end'; limit: AgentLimit | null }
  | { is: 'limit'; limit: AgentLimit }
  /** A turn failed, or a call failed in a way that is not reported to its model. */
  | { is: 'failed'; step: string };

/** Returns the next action, derived only from the text of docs/adr/0021 and without optimization. */
export function expectedNext(history: History, id: string): NextOfAgent {
  const conversation = conversationOf(history, id);
  const children = history.step(id).children.map(child => history.step(child));
  const failed = children.find(
    ({ end, spec }) => end?.type === 'step_failed' && !end.data.continues && !conversation.repeated.has(spec.id),
  );
  if (failed !== undefined) return { is: 'failed', step: failed.spec.id };
  if (children.some(({ end }) => end === null)) return { is: 'wait' };
  const next =
    conversation.after === null ? afterTurn(history, id, children) : afterRefusal(history, id, conversation.after);
  const isLong = conversation.context > conversation.compactAt && !conversation.isCompacted;
  return next.is === 'turn' && next.closing !== 'budget' && isLong ? { is: 'compact' } : next;
}

/** The last turn was refused: if both fit the budget, the conversation is compacted and the turn is repeated. */
function afterRefusal(history: History, id: string, after: 'compact' | 'repeat'): NextOfAgent {
  const plan = planOf(history, id);
  const closing = closingOf(history, id);
  const isPaid = spentUnder(history, id) + maxAttemptCost(history, id, 'agent_turn') <= usable(plan);
  if (isPaid) return after === 'compact' ? { is: 'compact' } : { is: 'turn', closing };
  if (after === 'repeat' && closing !== null) return { is: 'turn', closing };
  if (plan.on_limit === 'fail') return { is: 'limit', limit: 'budget' };
  const canClose = after === 'repeat' && spentUnder(history, id) < (plan.budget ?? 0);
  return canClose ? { is: 'turn', closing: 'budget' } : { is: 'end', limit: closing ?? 'budget' };
}

/** Returns the limit for which a closing turn was added. */
function closingOf(history: History, id: string): AgentLimit | null {
  const closing = history.step(id).children.map(child => history.step(child).spec.closing);
  return (closing.findLast(each => each !== undefined) as AgentLimit | undefined) ?? null;
}

function afterTurn(history: History, id: string, children: readonly StepHistory[]): NextOfAgent {
  const plan = planOf(history, id);
  const turns = children.filter(({ spec }) => spec.type === 'agent_turn');
  const last = turns.at(-1);
  if (last === undefined) return { is: 'turn', closing: null };
  if (last.spec.closing !== undefined) return { is: 'end', limit: last.spec.closing as AgentLimit };
  const limit = limitOf(last);
  if (limit !== undefined) return plan.on_limit === 'fail' ? { is: 'limit', limit } : { is: 'end', limit };
  const wanted = callsOf(last);
  if (wanted.length === 0) return { is: 'end', limit: null };
  const runnable = wanted.flatMap(({ policy }, index) => (policy === 'none' ? [] : [index + 1]));
  const made = children.filter(({ spec }) => spec.type === 'agent_tool');
  const ofLast = made.filter(({ spec }) => spec.id.startsWith(`${last.spec.id}.`)).length;
  if (ofLast === 0) {
    const numbers = runnable.slice(0, Math.min(plan.max_tool_calls - made.length, affordable(history, id)));
    if (numbers.length > 0) return { is: 'calls', numbers };
  }
  const left = usable(plan) - spentUnder(history, id);
  const limits: [boolean, AgentLimit][] = [
    [ofLast < runnable.length && made.length >= plan.max_tool_calls, 'max_tool_calls'],
    [ofLast < runnable.length, 'budget'],
    [mostRepeated(history, id) >= MAX_SAME_CALLS, 'repeated_calls'],
    [(plan.fitted === true ? 0 : maxAttemptCost(history, id, 'agent_turn')) > left, 'budget'],
    [turns.length >= plan.max_turns, 'max_turns'],
  ];
  const reached = limits.find(([isReached]) => isReached)?.[1];
  if (reached === undefined) return { is: 'turn', closing: null };
  if (plan.on_limit === 'fail') return { is: 'limit', limit: reached };
  if (plan.budget !== undefined && spentUnder(history, id) >= plan.budget) return { is: 'end', limit: reached };
  return { is: 'turn', closing: reached };
}

export function planOf(history: History, id: string): AgentPlan {
  const plan = history.step(id).expanded?.data.plan;
  if (plan?.type !== 'agent') throw new Error(`"${id}" is no agent that has expanded`);
  return plan;
}

/** Whether the step is an agent that has expanded. */
export function isExpandedAgent({ expanded }: StepHistory): boolean {
  return expanded?.data.plan.type === 'agent';
}

/** Returns the calls for which a turn asked. */
export function callsOf({ end }: StepHistory): readonly TurnCall[] {
  return (end?.type === 'step_completed' && 'result' in end.data && end.data.turn?.calls) || [];
}

/** Returns the limit at which a turn became the closing turn. */
function limitOf({ end }: StepHistory): AgentLimit | undefined {
  return end?.type === 'step_completed' && 'result' in end.data ? end.data.turn?.limit : undefined;
}

/** Reserves a tenth of the budget for the closing answer. */
const usable = ({ budget }: AgentPlan): number => (budget === undefined ? Number.POSITIVE_INFINITY : budget * 0.9);

/** Returns the microcredits that the steps under an agent have cost. */
function spentUnder(history: History, id: string): number {
  return history.step(id).children.reduce((sum, child) => sum + costOf(history)(history.step(child)), 0);
}

const costOf =
  (history: History) =>
  ({ spec }: StepHistory): number =>
    history.events.reduce(
      (sum, event) =>
        sum + (('step' in event && event.step === spec.id && 'credits' in event.data && event.data.credits) || 0),
      0,
    );

/** Returns the maximum cost of one attempt of a step of this type under the agent. */
function maxAttemptCost(history: History, id: string, type: string): number {
  const costs = history.events.map(event =>
    'step' in event &&
    event.step.startsWith(`${id}.`) &&
    history.step(event.step).spec.type === type &&
    'credits' in event.data
      ? (event.data.credits ?? 0)
      : 0,
  );
  return Math.max(0, ...costs);
}

function affordable(history: History, id: string): number {
  const left = usable(planOf(history, id)) - spentUnder(history, id);
  if (left <= 0) return 0;
  const price = maxAttemptCost(history, id, 'agent_tool');
  return price > 0 ? Math.floor(left / price) : Number.POSITIVE_INFINITY;
}

function mostRepeated(history: History, id: string): number {
  const times = new Map<string, number>();
  const count = (key: string) => times.set(key, (times.get(key) ?? 0) + 1);
  for (const child of history.step(id).children) {
    const step = history.step(child);
    if (step.spec.type === 'agent_turn')
      for (const { tool, hash, policy } of callsOf(step)) if (policy === 'none') count(`${tool} ${hash}`);
    if (step.spec.type !== 'agent_tool') continue;
    const [turn = '', number] = [child.slice(0, child.lastIndexOf('.')), child.slice(child.lastIndexOf('.') + 1)];
    const call = callsOf(history.step(turn))[Number(number) - 1];
    if (step.end?.type === 'step_failed') count(`${call?.tool} ${call?.hash} ${JSON.stringify(step.end.data.error)}`);
    if (step.end?.type === 'step_completed' && 'result' in step.end.data)
      count(`${call?.tool} ${call?.hash} ${step.end.data.digest}`);
  }
  return Math.max(0, ...times.values());
}

/** Returns the result of an agent, derived from the log. */
export function agentResult(history: History, id: string): JsonValue {
  const next = expectedNext(history, id);
  const turns = history.step(id).children.filter(child => history.step(child).spec.type === 'agent_turn');
  return { limit: next.is === 'end' ? next.limit : null, turns: turns.length };
}
