import type { CompiledGraph, CompiledStep } from './compile.ts';
import type { ExpansionPlan, JsonValue, StepError } from './events.ts';
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
export type Expansion = {
  readonly plan: ExpansionPlan;
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
  /** Of these, the ones that failed and have steps left that are to be ended. */
  readonly failing: Set<number>;
  readonly ends: (ItemEnd | undefined)[];
  /** Items that failed. */
  failed: number;
  /** The failure for which the step itself is to fail. */
  failure: { step: string; error: StepError } | null;
};

/** What was added to the graph of a run. */
export type Growth = {
  /** Added steps in memory: those of items that have not ended. */
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

/** How many steps of such an expansion are in memory at a time, at most. */
export function inMemoryAtOnce({ count, concurrency }: ExpansionPlan, steps: number): number {
  return Math.min(count, concurrency) * steps;
}
