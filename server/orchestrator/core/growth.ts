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

/** The maximum depth of added steps under added steps. */
export const MAX_DEPTH = 4;
/** The maximum number of added steps of a run that are in memory at the same time. */
export const MAX_ADDED_IN_MEMORY = 10_000;
/** The maximum number of steps that may be added to a run. */
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
  /** The steps of that graph without dependents: their results are the item's. */
  readonly last: readonly string[];
  /** The total number of items: those of the plan, or 0 if there is nothing to add for them. */
  readonly count: number;
  /** The time of its timeout, in ms since the epoch; null: never. */
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
  /** The failure that is to fail the step itself. */
  failure: { step: string; error: StepError } | null;
};

export type AgentExpansion = {
  readonly plan: AgentPlan;
  /** The settings, messages and tools that its steps work with. */
  readonly settings: JsonMap;
  /** The time at which its closing turn is due, or once that turn is added, the time at which it ends; ms since the epoch, null: never. */
  deadline: number | null;
  /** The time at which it ends, even with steps in flight; null in older logs, and without a time limit. */
  readonly end: number | null;
  /** The steps under it, in the order in which they were added; they stay in memory until it ends. */
  readonly steps: string[];
  /** The number of these steps that have not ended. */
  open: number;
  turns: number;
  lastTurn: TurnEnd | null;
  callsAdded: number | null;
  toolCalls: number;
  spent: number;
  /** The tokens that its turns used. */
  readonly usage: { inputTokens: number; outputTokens: number };
  dearestTurn: number;
  dearestCall: number;
  /** The number of times that each call was made with the same result. */
  readonly same: Map<string, number>;
  sameCalls: number;
  /** The approximate length of the conversation in tokens, and the length from which it is compacted. */
  context: number;
  compactAt: number;
  /** Compactions added so far. */
  compactions: number;
  /** Whether no turn has ended since the last compaction was added. */
  isCompacted: boolean;
  overflow: Overflow;
  closing: AgentLimit | null;
  /** The place where a turn last read text from outside of the workspace. */
  outside: string | null;
  /** The failure that is to fail the agent itself. */
  failure: { step: string; error: StepError } | null;
};

/**
 * The last turn was refused because the conversation is too long for the model: the conversation is compacted, and the
 * turn is repeated.
 */
export type Overflow = 'none' | 'compact' | 'repeat' | 'repeated';

/** The steps that were added to the graph of a run. */
export type Growth = {
  /** Added steps in memory: those of items, and of agents, that have not ended. */
  readonly steps: Map<string, CompiledStep>;
  readonly parents: Map<string, Expansion>;
  /** Steps that have expanded and need a decision: to add an item, or to end the steps that remain after a failure. */
  readonly due: Set<string>;
  /** Added steps that are to be skipped, because they have no reason to run. */
  readonly skippable: Set<string>;
  /** Human tasks that were answered, of items that have left memory. */
  readonly answered: Set<string>;
  /** Steps added so far, and those of them that have ended. */
  added: number;
  ended: number;
  /** The steps added so far, and those that the expansions in memory will still add. */
  planned: number;
  /** The maximum number of steps that these expansions have in memory at the same time. */
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

/**
 * Returns the maximum number of steps of the expansion that are in memory at the same time. `steps`: the number of
 * steps in a loop's graph.
 */
export function inMemoryAtOnce(plan: ExpansionPlan, steps: number): number {
  return plan.type === 'agent' ? stepsOfAgent(plan) : Math.min(plan.count, plan.concurrency) * steps;
}

/** Returns the maximum number of steps that the expansion adds. */
export function inAll(plan: ExpansionPlan, steps: number): number {
  return plan.type === 'agent' ? stepsOfAgent(plan) : plan.count * steps;
}

/**
 * Returns the number of turns including the closing one, and of calls with their approvals. If the conversation is
 * compacted, also a compaction before each turn, and a repetition of the last turn and of the closing one.
 */
function stepsOfAgent({ max_turns, max_tool_calls, compact_at }: AgentPlan): number {
  const turns = compact_at === undefined ? max_turns + 1 : 2 * (max_turns + 3);
  return turns + 2 * max_tool_calls;
}
