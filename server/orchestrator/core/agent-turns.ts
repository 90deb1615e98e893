import type { AgentLimit, AgentPlan, TurnCall, TurnEnd } from './events.ts';
import type { Overflow } from './growth.ts';

/** A model that makes the same call this many times, with the same result each time, is considered stuck in a loop. */
export const MAX_SAME_CALLS = 5;
/** The share of a budget that is reserved for the closing answer. */
const RESERVED = 0.1;

/** The history of an agent, as far as the next decision depends on it. */
export type AgentView = {
  readonly plan: AgentPlan;
  /** Turns added so far. */
  readonly turns: number;
  /** The end of the last turn; null before the first turn, and while the turn is in flight. */
  readonly lastTurn: TurnEnd | null;
  /** The number of calls of that turn that were added; null before they are added. */
  readonly callsAdded: number | null;
  /** The number of steps that have not ended. */
  readonly open: number;
  /** Calls added so far. */
  readonly toolCalls: number;
  /** Microcredits that the steps under the agent have cost. */
  readonly spent: number;
  /** The cost of its most expensive turn, and of its most expensive call. */
  readonly dearestTurn: number;
  readonly dearestCall: number;
  /** The number of times that the most repeated call was made with the same result. */
  readonly sameCalls: number;
  /** The approximate length of the conversation in tokens, and the length from which it is compacted. */
  readonly context: number;
  readonly compactAt: number;
  /** Whether the conversation was compacted and no turn has ended since. */
  readonly isCompacted: boolean;
  readonly overflow: Overflow;
  /** The limit because of which the last turn is the closing one. */
  readonly closing: AgentLimit | null;
};

/** A call to be added, with its number in its turn, from 1. */
export type NumberedCall = TurnCall & { readonly number: number };

export type NextOfAgent =
  | { readonly do: 'wait' }
  | { readonly do: 'turn'; readonly closing: AgentLimit | null }
  | { readonly do: 'calls'; readonly calls: readonly NumberedCall[] }
  /** The conversation is compacted before its next turn. */
  | { readonly do: 'compact' }
  /** Its last turn is its answer, or the best that it has. `limit`: the reason why it ends without an answer. */
  | { readonly do: 'end'; readonly limit: AgentLimit | null }
  | { readonly do: 'fail'; readonly limit: AgentLimit };

/** Decides what an agent does next (docs/adr/0021). Pure: the same view gives the same decision. */
export function nextOfAgent(view: AgentView): NextOfAgent {
  const next = nextInConversation(view);
  // If the budget requires a closing turn, it does not cover a compaction before that turn.
  if (next.do !== 'turn' || next.closing === 'budget' || view.isCompacted) return next;
  return view.context > view.compactAt ? { do: 'compact' } : next;
}

/** Makes the same decision without regard to the length of the conversation, unless that length has just failed a turn. */
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

/** Compacts a conversation that was refused as too long, and then repeats the turn. */
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
  // The budget does not even cover a closing answer.
  if (plan.budget !== undefined && spent >= plan.budget) return { do: 'end', limit };
  return { do: 'turn', closing: limit };
}

/** Returns the calls of a turn to be added, in their order: as many as the limits permit. */
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

/** Returns the limit because of which not all calls of the last turn were added. */
function leftOut({ plan, callsAdded, toolCalls }: AgentView, calls: readonly TurnCall[]): AgentLimit | null {
  if (calls.filter(isWanted).length <= (callsAdded ?? 0)) return null;
  return toolCalls >= plan.max_tool_calls ? 'max_tool_calls' : 'budget';
}

/** Returns the limit that forbids another turn with calls, after the calls of the last turn have ended. */
function limitAfterCalls({ plan, turns, spent, dearestTurn, sameCalls }: AgentView): AgentLimit | null {
  if (sameCalls >= MAX_SAME_CALLS) return 'repeated_calls';
  if (spent + (plan.fitted === true ? 0 : dearestTurn) > usableBudget(plan)) return 'budget';
  return turns >= plan.max_turns ? 'max_turns' : null;
}

const isWanted = ({ policy }: TurnCall): boolean => policy !== 'none';

/** Returns the microcredits that may be spent before the closing answer. */
export function usableBudget({ budget }: AgentPlan): number {
  return budget === undefined ? Number.POSITIVE_INFINITY : budget * (1 - RESERVED);
}
