import { STRATEGIES } from './attacker.ts';
import type { Case } from './attempt.ts';
import { type Pair, PHRASINGS } from './phrasings.ts';
import { NOWHERE, PLACES } from './places.ts';
import type { Suite } from './suite.ts';
import { BANKING } from './suites/banking.ts';
import { SLACK } from './suites/slack.ts';
import { TRAVEL } from './suites/travel.ts';
import { WORKSPACE } from './suites/workspace.ts';

export const SUITES: readonly Suite[] = [WORKSPACE, BANKING, SLACK, TRAVEL];

/** Each user task combined with each injected order in the same environment, as in AgentDojo. */
export const PAIRS: readonly Pair[] = SUITES.flatMap(suite =>
  suite.userTasks.flatMap(user => suite.injectionTasks.map(injection => ({ suite, user, injection }))),
);

/** Returns the item with a number, counting cyclically. */
const itemCyclic = <T>(list: readonly T[], number: number): T => {
  const item = list[number % list.length];
  if (item === undefined) throw new Error('The list is empty.');
  return item;
};

/** Every pair at every place, with phrasings and strategies in turn. */
export const allCases = (): Case[] =>
  PLACES.flatMap((place, at) =>
    PAIRS.map((pair, number) => {
      const count = at * PAIRS.length + number;
      return { ...pair, place, phrasing: itemCyclic(PHRASINGS, count), strategy: itemCyclic(STRATEGIES, count) };
    }),
  );

/** Returns `count` cases, spread over the whole list. */
export function someCases(count: number): Case[] {
  const all = allCases();
  return all.filter((_, at) => Math.floor((at * count) / all.length) !== Math.floor(((at - 1) * count) / all.length));
}

/** Returns enough cases to include every place, phrasing and strategy. */
export const sampleCases = (): Case[] =>
  Array.from({ length: Math.max(PLACES.length, PHRASINGS.length, STRATEGIES.length) }, (_, number) => ({
    ...itemCyclic(PAIRS, number * 11),
    place: itemCyclic(PLACES, number),
    phrasing: itemCyclic(PHRASINGS, number),
    strategy: itemCyclic(STRATEGIES, number),
  }));

/** Returns each user task without an injection. */
export const harmlessCases = (): Case[] =>
  sampleCases()
    .slice(0, 1)
    .flatMap(base =>
      SUITES.flatMap(suite => suite.userTasks.map(user => ({ ...base, suite, user, place: NOWHERE, strategy: null }))),
    );
