import type { ReactNode } from 'react';
import { matchScore } from '../ui/matching.ts';
import type { PageIcon } from './pages.ts';

/** A link or an action of the palette. */
export type Entry = {
  /** Unique in the palette. */
  id: string;
  group: string;
  label: string;
  icon: PageIcon;
  /** Additional words for the search. */
  keywords?: string;
  /** Shown at the end of the entry's line. */
  aside?: ReactNode;
  /** Shown only during a search. */
  searchedOnly?: boolean;
  run: () => void;
};

/** The maximum numbers of shown entries per group, without a search and with one. */
const MAX_LISTED = 6;
const MAX_FOUND = 8;

/**
 * Returns the matching entries by group, the best match first. The group with the best match is first. Without a search, returns the first
 * entries of each group in the given order.
 */
export function findEntries(entries: readonly Entry[], search: string): { group: string; entries: Entry[] }[] {
  const isSearching = search.trim() !== '';
  const scored = entries.flatMap(entry => {
    if (!isSearching) return entry.searchedOnly ? [] : [{ entry, score: 1 }];
    // A match in the label scores higher than one in other words.
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

/** All pages are listed, because they are an overview of the console. */
const limitOf = (group: string): number => (group === 'Go to' ? Number.POSITIVE_INFINITY : MAX_LISTED);
