import { type Language, wordsOf } from '../folding.ts';
import { type MemoryScope, type Narrowing, type Parameters, visibleTo } from '../scope.ts';
import { hasBegunAt, isOutdatedAt, isTrueAt, mayBeTrueAt, stateAt } from '../validity-store.ts';
import type { ParsedQuery } from './query.ts';
import { isPrefix } from './question-words.ts';

/** Limits a search to a part of the memories that its principal may see. */
export type SearchFilter = Narrowing & {
  items: boolean;
  chunks: boolean;
  itemKinds: readonly string[];
  /** The instant that the search is about. */
  at: Date;
  /** Whether the search is about the past: what was true and known then, even if it is no longer. */
  isPast: boolean;
  includeSuperseded: boolean;
};

/**
 * Returns the SQL query of one word: unchanged, and by its stems in English and in the language of the query. The language is
 * one of folding.ts. It is a literal, because with a parameter PostgreSQL would parse the word again for every row.
 */
export const wordQuery = (word: string, language: Language): string =>
  `(plainto_tsquery('simple', ${word}::text) || plainto_tsquery('english', ${word}::text) || plainto_tsquery('${language}', ${word}::text))`;

/** Returns the SQL query of every word with a prefix. `word` is the prefix with its star (question-words.ts). */
export const prefixQuery = (word: string): string => `to_tsquery('simple', left(${word}::text, -1) || ':*')`;

/** Returns the conditions on rows of items: that they are true, and for the past, that they were known. */
export function itemConditions(alias: string, scope: MemoryScope, filter: SearchFilter, to: Parameters): string {
  const at = `${to.add(filter.at)}::timestamptz`;
  const isFound = (row: string) => (filter.includeSuperseded ? hasBegunAt(row, at) : isTrueAt(row, at));
  const conditions = [
    visibleTo(alias, scope, to, filter),
    filter.isPast
      ? `EXISTS (SELECT FROM ${stateAt(alias, at)} st WHERE ${isFound('st')} AND st.fingerprint = ${alias}.fingerprint)`
      : isFound(alias),
    `${alias}.kind = ANY(${to.add(filter.itemKinds)}::text[])`,
  ];
  return conditions.join(' AND ');
}

/** Returns the conditions on rows of chunks: for the past, that they had been said and were remembered. */
export function chunkConditions(alias: string, scope: MemoryScope, filter: SearchFilter, to: Parameters): string {
  const visible = visibleTo(alias, scope, to, filter);
  if (!filter.isPast) return visible;
  const at = `${to.add(filter.at)}::timestamptz`;
  return `${visible} AND ${alias}.occurred_at <= ${at} AND EXISTS (SELECT FROM memory_episodes e
    WHERE e.tenant_id = ${alias}.tenant_id AND e.id = ${alias}.episode_id AND e.created_at <= ${at})`;
}

/**
 * Returns the condition that a chunk is not outdated. A chunk that is evidence only of superseded items is outdated like them.
 * Only items that the principal may see count, so nobody can hide or revive shared chunks for others.
 */
export function isCurrentChunk(alias: string, scope: MemoryScope, filter: SearchFilter, to: Parameters): string {
  if (filter.includeSuperseded) return 'true';
  const at = `${to.add(filter.at)}::timestamptz`;
  const [state, join, known] = filter.isPast
    ? ['st', `JOIN LATERAL ${stateAt('i', at)} st ON true`, `AND v.added_at <= ${at}`]
    : ['i', '', ''];
  // An aggregate, which PostgreSQL computes for each chunk separately. It turned two EXISTS into a list of all superseded
  // items.
  return `(SELECT coalesce(NOT bool_or(${isOutdatedAt(state, at)}) OR bool_or(${mayBeTrueAt(state, at)}), true)
    FROM memory_evidence v JOIN memory_items i ON i.tenant_id = v.tenant_id AND i.id = v.item_id ${join}
    WHERE v.tenant_id = ${alias}.tenant_id AND v.chunk_id = ${alias}.id ${known} AND ${visibleTo('i', scope, to)})`;
}

/** The demands of a query on every hit, regardless of the signal that found it. */
export type Demands = Pick<ParsedQuery, 'phrases' | 'excluded' | 'language'>;

/** Returns the conditions that a row has every phrase of a query and no excluded word. */
export function demandsOf(alias: string, { phrases, excluded, language }: Demands, to: Parameters): string[] {
  return [
    ...phrases.map(phrase => {
      const stems = `${alias}.words @@ phraseto_tsquery('${language}', ${to.add(phrase)}::text)`;
      return `(${stems} OR ${hasWords(alias, phrase, to)})`;
    }),
    ...excluded.map(word => {
      const added = to.add(word);
      return `NOT ${alias}.words @@ ${isPrefix(word) ? prefixQuery(added) : wordQuery(added, language)}`;
    }),
  ];
}

/**
 * Blanks and punctuation between words, listed explicitly, because the locale C of the embedded database knows none beyond
 * ASCII.
 */
const BETWEEN = '[[:space:][:punct:]“”„‘’«»—–…¿¡、。，！？：；（）]';

/**
 * Returns the condition that a row has these words next to each other, with any punctuation between them. Full-text search does
 * not index the most common words.
 */
export function hasWords(alias: string, phrase: string, to: Parameters): string {
  const words = wordsOf(phrase).map(word => word.replaceAll(/[^\p{L}\p{N}\p{M}]/gu, String.raw`\$&`));
  return `${alias}.folded ~ ${to.add(`(^|${BETWEEN})${words.join(`${BETWEEN}+`)}($|${BETWEEN})`)}::text`;
}
