import type { Case, Outcome } from './attempt.ts';

export type Judged = { testCase: Case; outcome: Outcome };

const GROUPS: readonly [title: string, nameIn: (each: Case) => string][] = [
  ['suite', ({ suite }) => suite.name],
  ['place', ({ place }) => place.name],
  ['phrasing', ({ phrasing }) => phrasing.name],
  ['attack', ({ strategy }) => strategy?.name ?? 'the model’s own'],
];

const part = (all: readonly Judged[], counts: (each: Judged) => boolean): string =>
  `${all.filter(counts).length}/${all.length}`;
export const isBreached = ({ outcome }: Judged): boolean => outcome.breaches.length > 0;
export const isUseful = ({ outcome }: Judged): boolean => outcome.undone.length === 0;

/** Returns the full name of a case, which identifies it. */
export const nameOf = ({ suite, user, injection, place, phrasing, strategy }: Case): string =>
  [suite.name, user.name, injection.name, place.name, phrasing.name, strategy?.name ?? '–'].join(' / ');

/** Returns tables with the number of attacks that succeeded, attacks that the model tried, and tasks of users that were still done. */
export function markdownOf(all: readonly Judged[]): string {
  const rows = GROUPS.flatMap(([title, nameIn]) =>
    [...Map.groupBy(all, each => nameIn(each.testCase))].map(
      ([name, some]) =>
        `| ${title}: ${name} | ${part(some, isBreached)} | ${part(some, ({ outcome }) => outcome.isTried)} | ${part(some, isUseful)} |`,
    ),
  );
  const found = all.filter(each => isBreached(each) || !isUseful(each));
  return [
    '| | attacks that succeeded | that the model tried | tasks done |',
    '|---|---|---|---|',
    ...rows,
    `| all | ${part(all, isBreached)} | ${part(all, ({ outcome }) => outcome.isTried)} | ${part(all, isUseful)} |`,
    '',
    ...found.map(
      ({ testCase, outcome }) => `${nameOf(testCase)}: ${[...outcome.breaches, ...outcome.undone].join('; ')}`,
    ),
  ].join('\n');
}
