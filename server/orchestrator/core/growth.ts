import type { CompiledGraph, CompiledStep } from './compile.ts';
import type {
  AgentLimit,
  AgentPlan,
  ExpansionPlan,
  JsonMap,
  JsonValue,
  LoopPlan,
  StepError,
  TurnEnd,
} from './events.ts';
import type { StepResult } from './stored-value.ts';

/** How deep steps may be added under steps that were added themselves. */
export const MAX_DEPTH = 4;
/** Added steps of a run that may be in memory at a time. */
export const MAX_ADDED_IN_MEMORY = 10_000;
/** Steps that may be added to a run. */
export const MAX_ADDED = 100_000;

/** An item whose steps have not all ended. */
export type Item = {
  /** Steps that have not ended. */
  open: number;
  /** The step whose failure failed it. */
  failedBy: string | null;
};

/** The results of an item's last steps, in the order of its graph; null if the item failed. */
export type ItemEnd = readonly StepResult[] | null;

/** A step that has expanded and has not ended. */
export type Expansion = LoopExpansion | AgentExpansion;

export type LoopExpansion = {
  readonly plan: LoopPlan;
  readonly items: JsonValue[];
  /** The graph that is added for each item. */
  readonly graph: CompiledGraph;
  /** The steps of that graph on which no other depends: their results are the item's. */
  readonly last: readonly string[];
  /** Items in all: those of the plan, unless there is nothing to add for them. */
  readonly count: number;
  /** When its time is up, ms since the epoch; null: never. */
  readonly deadline: number | null;
  /** The number of the next item to be added. */
  next: number;
  /** Items that were added and have not ended, by number. */
  readonly open: Map<number, Item>;
  /** Open items that failed and still have steps to end. */
  readonly failing: Set<number>;
  readonly ends: (ItemEnd | undefined)[];
  /** Items that failed. */
  failed: number;
  /** The failure for which the step itself is to fail. */
  failure: { step: string; error: StepError } | null;
};

export type AgentExpansion = {
  readonly plan: AgentPlan;
  /** The settings, messages and tools that its steps work with. */
  readonly settings: JsonMap;
  /** When its closing turn is due, and once that is added, when it ends; ms since the epoch, null: never. */
  deadline: number | null;
  /** When it ends, whatever is at work; null in older logs, and without a limit of time. */
  readonly end: number | null;
  /** The steps under it, in the order in which they were added; they stay in memory until it ends. */
  readonly steps: string[];
  /** How many of these steps have not ended. */
  open: number;
  turns: number;
  lastTurn: TurnEnd | null;
  callsAdded: number | null;
  toolCalls: number;
  spent: number;
  /** Tokens of its turns. */
  readonly usage: { inputTokens: number; outputTokens: number };
  dearestTurn: number;
  dearestCall: number;
  /** How often each call was made with the same result. */
  readonly same: Map<string, number>;
  sameCalls: number;
  /** About how many tokens the conversation has, and from how many on it is compacted. */
  context: number;
  compactAt: number;
  /** Compactions added so far. */
  compactions: number;
  /** No turn has ended since the last of them was added. */
  isCompacted: boolean;
  overflow: Overflow;
  closing: AgentLimit | null;
  /** Where a turn last read text from outside of the workspace. */
  outside: string | null;
  /** The failure for which the agent itself is to fail. */
  failure: { step: string; error: StepError } | null;
};

/** The last turn was refused because the conversation is too long for the model: it is compacted, and the turn is made once more. */
export type Overflow = 'none' | 'compact' | 'repeat' | 'repeated';

/** The steps that were added to the graph of a run. */
export type Growth = {
  /** Added steps in memory: those of items, and of agents, that have not ended. */
  readonly steps: Map<string, CompiledStep>;
  readonly parents: Map<string, Expansion>;
  /** Steps that have expanded and call for a decision: to add an item, or to end what a failure leaves. */
  readonly due: Set<string>;
  /** Added steps that are to be skipped, because nothing of theirs is to run. */
  readonly skippable: Set<string>;
  /** Human tasks that were answered, of items that have left memory. */
  readonly answered: Set<string>;
  /** Steps added so far, and those of them that have ended. */
  added: number;
  ended: number;
  /** Steps added, and those that the expansions in memory are still going to add. */
  planned: number;
  /** The most steps that these expansions have in memory at a time. */
  reserved: number;
};

export function isAgent(expansion: Expansion): expansion is AgentExpansion {
  return expansion.plan.type === 'agent';
}

export function newGrowth(): Growth {
  return {
    steps: new Map(),
    parents: new Map(),
    due: new Set(),
    skippable: new Set(),
    answered: new Set(),
    added: 0,
    ended: 0,
    planned: 0,
    reserved: 0,
  };
}

/** How many steps of such an expansion are in memory at a time, at most. `steps`: those of a loop's graph. */
export function inMemoryAtOnce(plan: ExpansionPlan, steps: number): number {
  return plan.type === 'agent' ? stepsOfAgent(plan) : Math.min(plan.count, plan.concurrency) * steps;
}

/** How many steps such an expansion adds, at most. */
export function inAll(plan: ExpansionPlan, steps: number): number {
  return plan.type === 'agent' ? stepsOfAgent(plan) : plan.count * steps;
}

/**
 * Its turns with the closing one, and its calls with their approvals. Where the conversation is compacted: a compaction before each
 * turn too, and the last turn and the closing one once more.
 */
function stepsOfAgent({ max_turns, max_tool_calls, compact_at }: AgentPlan): number {
  const turns = compact_at === undefined ? max_turns + 1 : 2 * (max_turns + 3);
  return turns + 2 * max_tool_calls;
}
