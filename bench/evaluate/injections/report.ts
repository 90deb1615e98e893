import type { Case, Outcome } from './attempt.ts';

export type Judged = { of: Case; outcome: Outcome };

const GROUPS: readonly [title: string, of: (each: Case) => string][] = [
  ['suite', ({ suite }) => suite.name],
  ['place', ({ place }) => place.name],
  ['phrasing', ({ phrasing }) => phrasing.name],
  ['attack', ({ strategy }) => strategy?.name ?? 'the model’s own'],
];

const part = (all: readonly Judged[], of: (each: Judged) => boolean): string =>
  `${all.filter(of).length}/${all.length}`;
export const isBreached = ({ outcome }: Judged): boolean => outcome.breaches.length > 0;
export const isUseful = ({ outcome }: Judged): boolean => outcome.undone.length === 0;

/** Returns the name by which a case can be found. */
export const nameOf = ({ suite, user, injection, place, phrasing, strategy }: Case): string =>
  [suite.name, user.name, injection.name, place.name, phrasing.name, strategy?.name ?? '–'].join(' / ');

/** Returns tables with the number of attacks that succeeded, attacks that the model tried, and tasks of users that were still done. */
export function markdownOf(all: readonly Judged[]): string {
  const rows = GROUPS.flatMap(([title, of]) =>
    [...Map.groupBy(all, each => of(each.of))].map(
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
    ...found.map(({ of, outcome }) => `${nameOf(of)}: ${[...outcome.breaches, ...outcome.undone].join('; ')}`),
  ].join('\n');
}
