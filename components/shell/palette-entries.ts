import type { ReactNode } from 'react';
import { matchScore } from '../ui/matching.ts';
import type { PageIcon } from './pages.ts';

/** Something that the palette leads to or does. */
export type Entry = {
  /** Unique in the palette. */
  id: string;
  group: string;
  label: string;
  icon: PageIcon;
  /** Other words that find the entry. */
  keywords?: string;
  /** Shown at the end of its line. */
  aside?: ReactNode;
  /** Only shown once something is searched. */
  searchedOnly?: boolean;
  run: () => void;
};

/** How many entries of a group are shown, without a search and with one. */
const MAX_LISTED = 6;
const MAX_FOUND = 8;

/**
 * Returns the entries that answer a search, by group: the best first, and first the group that has the best one. Without a search, the
 * first of each group in the order in which they are given.
 */
export function findEntries(entries: readonly Entry[], search: string): { group: string; entries: Entry[] }[] {
  const isSearching = search.trim() !== '';
  const scored = entries.flatMap(entry => {
    if (!isSearching) return entry.searchedOnly ? [] : [{ entry, score: 1 }];
    // The label counts for more than what else an entry is found by.
    const score = Math.max(
      matchScore(entry.label, search),
      0.6 * matchScore(`${entry.group} ${entry.label} ${entry.keywords ?? ''}`, search),
    );
    return score > 0 ? [{ entry, score }] : [];
  });
  const groups = [...Map.groupBy(scored, ({ entry }) => entry.group)].map(([group, found]) => ({
    group,
    found: isSearching ? found.toSorted((a, b) => b.score - a.score) : found,
  }));
  if (isSearching) groups.sort((a, b) => (b.found[0]?.score ?? 0) - (a.found[0]?.score ?? 0));
  return groups.map(({ group, found }) => ({
    group,
    entries: found.slice(0, isSearching ? MAX_FOUND : limitOf(group)).map(({ entry }) => entry),
  }));
}

/** The pages are a map of the console, and all of them are listed. */
const limitOf = (group: string): number => (group === 'Go to' ? Number.POSITIVE_INFINITY : MAX_LISTED);
