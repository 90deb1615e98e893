import type { AgentLimit, AgentPlan, TurnCall, TurnEnd } from './events.ts';
import type { Overflow } from './growth.ts';

/** A model that makes the same call so often, with the same result each time, is going round in circles. */
export const MAX_SAME_CALLS = 5;
/** The part of a budget that is kept for the closing answer. */
const RESERVED = 0.1;

/** The history of an agent, as far as the next decision depends on it. */
export type AgentView = {
  readonly plan: AgentPlan;
  /** Turns added so far. */
  readonly turns: number;
  /** The end of the last turn; null before the first, and as long as it is at work. */
  readonly lastTurn: TurnEnd | null;
  /** How many calls of that turn were added; null as long as none were. */
  readonly callsAdded: number | null;
  /** Steps at work. */
  readonly open: number;
  /** Calls added so far. */
  readonly toolCalls: number;
  /** Microcredits that the steps under the agent have cost. */
  readonly spent: number;
  /** The cost of its most expensive turn, and of its most expensive call. */
  readonly dearestTurn: number;
  readonly dearestCall: number;
  /** How often the most repeated call was made, with the same result. */
  readonly sameCalls: number;
  /** About how many tokens the conversation has, and from how many on it is compacted. */
  readonly context: number;
  readonly compactAt: number;
  /** No turn has ended since it was compacted. */
  readonly isCompacted: boolean;
  readonly overflow: Overflow;
  /** The limit for which the last turn is the closing one. */
  readonly closing: AgentLimit | null;
};

/** A call that is to be added, by its number in its turn, from 1. */
export type NumberedCall = TurnCall & { readonly number: number };

export type NextOfAgent =
  | { readonly do: 'wait' }
  | { readonly do: 'turn'; readonly closing: AgentLimit | null }
  | { readonly do: 'calls'; readonly calls: readonly NumberedCall[] }
  /** The conversation is compacted before its next turn. */
  | { readonly do: 'compact' }
  /** Its last turn is its answer, or all that there is; `limit`: why it ends without an answer. */
  | { readonly do: 'end'; readonly limit: AgentLimit | null }
  | { readonly do: 'fail'; readonly limit: AgentLimit };

/** Decides what an agent does next (docs/adr/0021). Pure: the same view gives the same decision. */
export function nextOfAgent(view: AgentView): NextOfAgent {
  const next = nextInConversation(view);
  // A closing turn for the budget is all that can be paid.
  if (next.do !== 'turn' || next.closing === 'budget' || view.isCompacted) return next;
  return view.context > view.compactAt ? { do: 'compact' } : next;
}

/** The same without regard to the length of the conversation, unless that has just stopped a turn. */
function nextInConversation(view: AgentView): NextOfAgent {
  const { turns, lastTurn, open, closing } = view;
  if (open > 0) return { do: 'wait' };
  if (view.overflow === 'compact' || view.overflow === 'repeat') return afterOverflow(view, view.overflow);
  if (turns === 0) return { do: 'turn', closing: null };
  if (lastTurn?.limit !== undefined && view.plan.on_limit === 'fail') return { do: 'fail', limit: lastTurn.limit };
  if (lastTurn === null || lastTurn.calls.length === 0 || closing !== null) return { do: 'end', limit: closing };
  const { calls, limit } = callsToAdd(view, lastTurn.calls);
  if (view.callsAdded === null && calls.length > 0) return { do: 'calls', calls };
  const reached = (view.callsAdded === null ? limit : leftOut(view, lastTurn.calls)) ?? limitAfterCalls(view);
  return reached === null ? { do: 'turn', closing: null } : atLimit(view, reached);
}

/** A turn was refused because the conversation is too long: it is compacted, and the turn is made again. */
function afterOverflow(view: AgentView, overflow: 'compact' | 'repeat'): NextOfAgent {
  const { plan, spent, dearestTurn, closing } = view;
  const isPaid = spent + dearestTurn <= usableBudget(plan);
  if (overflow === 'repeat') return isPaid || closing !== null ? { do: 'turn', closing } : atLimit(view, 'budget');
  if (isPaid) return { do: 'compact' };
  return plan.on_limit === 'fail' ? { do: 'fail', limit: 'budget' } : { do: 'end', limit: closing ?? 'budget' };
}

/** Decides what an agent does at a limit. */
export function atLimit({ plan, spent }: Pick<AgentView, 'plan' | 'spent'>, limit: AgentLimit): NextOfAgent {
  if (plan.on_limit === 'fail') return { do: 'fail', limit };
  // Not even a closing answer can be paid.
  if (plan.budget !== undefined && spent >= plan.budget) return { do: 'end', limit };
  return { do: 'turn', closing: limit };
}

/** The calls of a turn that are to be added, in their order: as many as the limits permit. */
function callsToAdd(
  view: Pick<AgentView, 'plan' | 'toolCalls' | 'spent' | 'dearestCall'>,
  calls: readonly TurnCall[],
): { calls: readonly NumberedCall[]; limit: AgentLimit | null } {
  const wanted = calls.map((call, index) => ({ ...call, number: index + 1 })).filter(isWanted);
  const left = Math.max(0, view.plan.max_tool_calls - view.toolCalls);
  const affordable = affordableCalls(view);
  const added = wanted.slice(0, Math.min(left, affordable));
  if (added.length === wanted.length) return { calls: added, limit: null };
  return { calls: added, limit: affordable < left ? 'budget' : 'max_tool_calls' };
}

function affordableCalls({ plan, spent, dearestCall }: Pick<AgentView, 'plan' | 'spent' | 'dearestCall'>): number {
  const left = usableBudget(plan) - spent;
  if (left <= 0) return 0;
  const price = Math.max(dearestCall, plan.call_price ?? 0);
  return price > 0 ? Math.floor(left / price) : Number.POSITIVE_INFINITY;
}

/** The limit for which not all calls of the last turn were added. */
function leftOut({ plan, callsAdded, toolCalls }: AgentView, calls: readonly TurnCall[]): AgentLimit | null {
  if (calls.filter(isWanted).length <= (callsAdded ?? 0)) return null;
  return toolCalls >= plan.max_tool_calls ? 'max_tool_calls' : 'budget';
}

/** The calls of the last turn have ended: whether no other one may follow that makes more of them. */
function limitAfterCalls({ plan, turns, spent, dearestTurn, sameCalls }: AgentView): AgentLimit | null {
  if (sameCalls >= MAX_SAME_CALLS) return 'repeated_calls';
  if (spent + (plan.fitted === true ? 0 : dearestTurn) > usableBudget(plan)) return 'budget';
  return turns >= plan.max_turns ? 'max_turns' : null;
}

const isWanted = ({ policy }: TurnCall): boolean => policy !== 'none';

/** Microcredits that may be spent before the closing answer. */
export function usableBudget({ budget }: AgentPlan): number {
  return budget === undefined ? Number.POSITIVE_INFINITY : budget * (1 - RESERVED);
}
