import type { Pool } from 'pg';
import { escapeLike } from '../../../platform/postgres/prisma.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { Language } from '../folding.ts';
import { type MemoryScope, type Parameters, parameters } from '../scope.ts';
import {
  chunkConditions,
  type Demands,
  demandsOf,
  hasWords,
  itemConditions,
  prefixQuery,
  type SearchFilter,
  wordQuery,
} from './conditions-store.ts';
import { isPrefix } from './question-words.ts';

/** `level`: the part of the score that is more than a tiebreaker. */
export type Candidate = { id: string; is_item: boolean; score: number; level?: number };
/** A word with the number of memories that contain it, counted up to a limit. */
export type CountedWord = { word: string; found: number };

const MAX_PER_SIGNAL = 100;
const MAX_SUBJECT_HITS = 50;
/** Candidates that contain only the common words of a query that also has rarer ones. */
const MAX_BESIDE_RARE = 500;

const hasTrigrams = new WeakMap<Pool, Promise<boolean>>();

/** Returns whether the database supports trigrams. Queries it once. */
export function canUseTrigrams(pool: Pool): Promise<boolean> {
  const known = hasTrigrams.get(pool);
  if (known) return known;
  const query = pool.query("SELECT FROM pg_extension WHERE extname = 'pg_trgm'").then(({ rowCount }) => rowCount === 1);
  hasTrigrams.set(pool, query);
  query.catch(() => hasTrigrams.delete(pool));
  return query;
}

/** The tables that are searched, with the conditions of each. */
function sources(scope: MemoryScope, filter: SearchFilter, to: Parameters) {
  const items = { table: 'memory_items', isItem: true, where: () => itemConditions('m', scope, filter, to) };
  const chunks = { table: 'memory_chunks', isItem: false, where: () => chunkConditions('m', scope, filter, to) };
  return [...(filter.items ? [items] : []), ...(filter.chunks ? [chunks] : [])].map(({ where, ...source }) => ({
    ...source,
    where: where(),
  }));
}

/**
 * Returns the number of memories with each word, counted up to `limit` in each table. Rare words are more informative, and
 * faster to search.
 */
export async function countWords(
  db: Queryable,
  scope: MemoryScope,
  filter: SearchFilter,
  { words, language, limit }: { words: readonly string[]; language: Language; limit: number },
): Promise<CountedWord[]> {
  if (words.length === 0) return [];
  const to = parameters();
  const list = to.add(words);
  const whole = wordQuery('t.word', language);
  const query = words.some(isPrefix)
    ? `CASE WHEN right(t.word, 1) = '*' THEN ${prefixQuery('t.word')} ELSE ${whole} END`
    : whole;
  const counts = sources(scope, filter, to).map(
    ({ table, where }) =>
      `(SELECT count(*) FROM (SELECT FROM ${table} m WHERE ${where} AND m.words @@ w.query LIMIT ${limit}) found)`,
  );
  const { rows } = await db.query<CountedWord>(
    `SELECT w.word, (${counts.join(' + ')})::int AS found
     FROM (SELECT t.word, ${query} AS query FROM unnest(${list}::text[]) t(word)) w`,
    to.values,
  );
  return rows;
}

export type TextSearch = Demands & {
  /**
   * A memory with any of these words is a candidate. A memory with only common words is one if it has all of them, or any two
   * (`together`).
   */
  rare: readonly WeighedWord[];
  common: readonly WeighedWord[];
  together: 'all' | 'two';
  /** The maximum number of candidates that are ranked. */
  limit: number;
};
export type WeighedWord = { word: string; weight: number };

/**
 * Returns candidates by the weight of their words, best first. Candidates of equal weight are ordered by PostgreSQL's own
 * ranking, in which subjects count most.
 */
export async function searchWords(
  db: Queryable,
  scope: MemoryScope,
  filter: SearchFilter,
  search: TextSearch,
): Promise<Candidate[]> {
  const to = parameters();
  const { language } = search;
  const queryOf = ({ word }: { word: string }) =>
    isPrefix(word) ? prefixQuery(to.add(word)) : wordQuery(to.add(word), language);
  const rare = search.rare.map(queryOf);
  const common = search.common.map(queryOf);
  // Besides rarer words, a single common word would only add memories that lack the rarer ones.
  const isAsked = common.length > 1 || rare.length === 0;
  const either = rare.join(' || ');
  const together = isAsked ? togetherOf(common, search.together) : '';
  if (either === '' && together === '') return [];
  const any = [...rare, ...common].join(' || ');
  const weights = [...search.rare, ...search.common].map(({ weight }) => to.add(weight));
  const level = [...rare, ...common]
    .map((query, at) => `(m.words @@ ${query})::int * ${weights[at]}::float8`)
    .join(' + ');
  const demanded = demandsOf('m', search, to);
  const limit = to.add(search.limit);
  const selects = sources(scope, filter, to).map(({ table, isItem, where }) => {
    const matching = (query: string, atMost: string | number, ...without: string[]) => {
      const conditions = [
        where,
        `m.words @@ (${query})`,
        ...without.map(each => `NOT m.words @@ (${each})`),
        ...demanded,
      ];
      return `(SELECT m.id, m.words FROM ${table} m WHERE ${conditions.join(' AND ')} LIMIT ${atMost})`;
    };
    // Each has its own limit: thousands of memories that share the common words would leave no room for those with rare ones.
    const withCommonWords = either !== '' && together !== '' ? [matching(together, MAX_BESIDE_RARE, either)] : [];
    const candidates = [matching(either || together, limit), ...withCommonWords].join(' UNION ALL ');
    return `(SELECT m.id, ${isItem} AS is_item, m.level, m.level + ts_rank(m.words, ${any}, 1) AS score
      FROM (SELECT m.id, m.words, round((${level})::numeric, 3)::float8 AS level FROM (${candidates}) m) m
      ORDER BY level DESC, score DESC, m.id DESC LIMIT ${MAX_PER_SIGNAL})`;
  });
  const { rows } = await db.query<Candidate>(
    `SELECT * FROM (${selects.join(' UNION ALL ')}) found ORDER BY level DESC, score DESC, id DESC LIMIT ${MAX_PER_SIGNAL}`,
    to.values,
  );
  return rows;
}

/**
 * Returns the newest memories with the phrases that consist only of words that full-text search omits, such as "to be or not to
 * be".
 */
export async function searchPhrases(
  db: Queryable,
  scope: MemoryScope,
  filter: SearchFilter,
  demands: Demands,
): Promise<Candidate[]> {
  const to = parameters();
  const unknown = demands.phrases.map(
    phrase =>
      `(numnode(phraseto_tsquery('${demands.language}', ${to.add(phrase)}::text)) = 0 AND ${hasWords('m', phrase, to)})`,
  );
  if (unknown.length === 0) return [];
  const demanded = demandsOf('m', demands, to);
  const selects = sources(scope, filter, to).map(
    ({ table, isItem, where }) =>
      `(SELECT m.id, ${isItem} AS is_item, 0::float8 AS score, 0::float8 AS level FROM ${table} m
        WHERE ${where} AND (${unknown.join(' OR ')}) AND ${demanded.join(' AND ')} ORDER BY m.id DESC LIMIT ${MAX_PER_SIGNAL})`,
  );
  const { rows } = await db.query<Candidate>(
    `SELECT * FROM (${selects.join(' UNION ALL ')}) found ORDER BY id DESC LIMIT ${MAX_PER_SIGNAL}`,
    to.values,
  );
  return rows;
}

function togetherOf(words: readonly string[], how: TextSearch['together']): string {
  if (words.length === 0) return '';
  if (how === 'all' || words.length < 3) return `(${words.join(' && ')})`;
  return words.flatMap((one, at) => words.slice(at + 1).map(other => `(${one} && ${other})`)).join(' || ');
}

/** Returns candidates that contain one of the words as a part of a word, or a similar word, best first. */
export async function searchTrigrams(
  db: Queryable,
  scope: MemoryScope,
  filter: SearchFilter,
  words: readonly string[],
): Promise<Candidate[]> {
  const to = parameters();
  const named = words.map(word => ({ word: to.add(word), pattern: to.add(`%${escapeLike(word)}%`) }));
  const found = named
    .map(({ word, pattern }) => `m.folded LIKE ${pattern}::text OR ${word}::text <% m.folded`)
    .join(' OR ');
  const score = named.map(({ word }) => `word_similarity(${word}::text, m.folded)`).join(' + ');
  const selects = sources(scope, filter, to).map(
    ({ table, isItem, where }) =>
      `(SELECT m.id, ${isItem} AS is_item, (${score})::float8 AS score FROM ${table} m WHERE ${where} AND (${found})
        ORDER BY score DESC, m.id DESC LIMIT ${MAX_PER_SIGNAL})`,
  );
  const { rows } = await db.query<Candidate>(
    `SELECT * FROM (${selects.join(' UNION ALL ')}) found ORDER BY score DESC, id DESC LIMIT ${MAX_PER_SIGNAL}`,
    to.values,
  );
  return rows;
}

/**
 * Finds the memories that the query names: items with these subjects (longest first), items and chunks with these ids,
 * and the chunks of episodes with these ids.
 */
export async function searchNamed(
  db: Queryable,
  scope: MemoryScope,
  filter: SearchFilter,
  { subjects, ids }: { subjects: readonly string[]; ids: readonly string[] },
): Promise<Candidate[]> {
  const to = parameters();
  const given = to.add(ids);
  const keys = filter.items ? to.add(subjects) : '';
  const selects = sources(scope, filter, to).map(({ table, isItem, where }) =>
    isItem
      ? `(SELECT m.id, true AS is_item, length(m.subject_key)::float8 AS score FROM ${table} m
          WHERE ${where} AND (m.subject_key = ANY(${keys}::text[]) OR m.id = ANY(${given}::uuid[]))
          ORDER BY score DESC, m.pinned DESC, m.valid_from DESC LIMIT ${MAX_SUBJECT_HITS})`
      : `(SELECT m.id, false AS is_item, 1000::float8 AS score FROM ${table} m
          WHERE ${where} AND (m.id = ANY(${given}::uuid[]) OR m.episode_id = ANY(${given}::uuid[])) LIMIT ${MAX_SUBJECT_HITS})`,
  );
  const { rows } = await db.query<Candidate>(
    `SELECT * FROM (${selects.join(' UNION ALL ')}) found ORDER BY score DESC, id DESC`,
    to.values,
  );
  return rows;
}
