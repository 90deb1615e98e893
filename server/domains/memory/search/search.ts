import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { searchByMeaning } from '../embeddings/embed-query.ts';
import { fold, isCommon, wordsOf } from '../folding.ts';
import { requireAbout } from '../require-about.ts';
import { ITEM_KINDS, type SearchInput, type SearchOutput, SIGNALS } from '../schemas.ts';
import { type MemoryScope, type Narrowing, scopeOf, visibilityOf } from '../scope.ts';
import {
  type Candidate,
  canUseTrigrams,
  searchNamed,
  searchPhrases,
  searchTrigrams,
  searchWords,
  type TextSearch,
  type WeighedWord,
} from './candidates-store.ts';
import type { SearchFilter } from './conditions-store.ts';
import { diversify, type Fused, fuse, packTokens, type RankedList } from './fuse.ts';
import { type HitRow, readHits } from './hits-store.ts';
import { type AreAlike, compareByMeaning, putNewestFirst, type Statement } from './newest.ts';
import { type ParsedQuery, parseQuery } from './query.ts';
import { isPrefix } from './question-words.ts';
import { COMMON_FROM, countsOfWords } from './word-counts.ts';

/** The maximum number of candidates for each table whose words are weighted. */
const MAX_CANDIDATES = 2_000;
/** The number of memories for which weights are computed. Above the limit of counting, it does not change the order. */
const ASSUMED_MEMORIES = 20_000;
/** The minimum fraction of the query's weight that a hit has, unless another signal finds it. */
const MIN_COVERAGE = 0.2;
/** The maximum number of words without a hit that are searched by trigrams. Each needs its own scan of the index. */
const MAX_TRIGRAM_WORDS = 4;
const MIN_TRIGRAM_LENGTH = 3;
/** The number of fused candidates that are read for each requested hit. */
const READ_PER_HIT = 3;
/** Less than one rank of another signal: recency decides between hits that are otherwise equally good. */
const RECENCY_WEIGHT = 0.02;

type Input = z.output<typeof SearchInput>;
type SearchRequest = {
  pool: Context['services']['pool'];
  now: number;
  scope: MemoryScope;
  filter: SearchFilter;
  query: ParsedQuery;
};

/** POST /v1/memory/search. Signals that cannot answer are listed in `degraded`, and do not fail the search. Throws AppError 404. */
export async function searchMemory(ctx: Context, input: Input): Promise<z.input<typeof SearchOutput>> {
  await requireAbout(ctx, input);
  return searchIn(ctx.services, scopeOf(ctx.principal), input);
}

/** Searches for the principal of this scope. `narrowing` restricts the search further than the input. */
export async function searchIn(
  services: Pick<Services, 'pool' | 'clock' | 'embed'>,
  scope: MemoryScope,
  input: Input,
  narrowing: Narrowing = {},
): Promise<z.input<typeof SearchOutput>> {
  const { pool } = services;
  const now = services.clock.now();
  const filter = { ...filterOf(input, now), ...narrowing };
  const request: SearchRequest = { pool, now, scope, filter, query: parseQuery(input.query) };
  const [lexical, named, meaning] = await Promise.all([
    searchLexically(request),
    searchNamed(pool, scope, filter, request.query),
    searchByMeaning(services, scope, input.query, { ...filter, narrowing: filter }),
  ]);
  const lists: RankedList[] = [
    { signal: 'text', weight: lexical.known, candidates: lexical.text },
    { signal: 'trigram', weight: 1 - lexical.known, candidates: unlevelled(lexical.trigram) },
    { signal: 'subject', weight: subjectWeight(request.query, named), candidates: unlevelled(named) },
    { signal: 'vector', weight: 1, candidates: unlevelled(meaning.hits) },
  ];
  const isItem = new Set(
    [...lexical.text, ...lexical.trigram, ...named, ...meaning.hits].flatMap(each => (each.is_item ? [each.id] : [])),
  );
  const read = await readBest(request, fuse(lists), isItem, input);
  const byMeaning = await compareByMeaning(pool, scope.tenantId, meaning, [...new Set(read.map(({ id }) => id))]);
  const byWords = alikeByWords(lexical);
  const hits = rank(lists, read, input.k, (one, other) => byWords(one, other) && byMeaning(one, other));
  const { kept, tokens, truncated } = packTokens(hits, input.max_tokens);
  const available = {
    text: true,
    trigram: lexical.canUseTrigrams,
    subject: true,
    vector: meaning.configured,
    recency: true,
  };
  return {
    hits: kept.map(hit => toWire(hit, input.explain)),
    signals: SIGNALS.filter(signal => available[signal]),
    degraded: [
      ...(lexical.canUseTrigrams ? [] : (['trigram'] as const)),
      ...(meaning.degraded ? (['vector'] as const) : []),
    ],
    tokens,
    truncated,
  };
}

function filterOf(input: Input, now: number): SearchFilter {
  const kinds = input.kinds ?? [...ITEM_KINDS, 'episode'];
  const itemKinds = kinds.filter(kind => kind !== 'episode');
  return {
    workflowId: input.workflow_id,
    agentId: input.agent_id,
    visibility: input.visibility,
    items: itemKinds.length > 0,
    chunks: kinds.includes('episode'),
    itemKinds,
    at: new Date(input.as_of ?? now),
    isPast: input.as_of !== undefined,
    includeSuperseded: input.include_superseded,
  };
}

const unlevelled = (candidates: readonly { id: string }[]) => candidates.map(({ id }) => ({ id }));

type Lexical = {
  text: Candidate[];
  trigram: Candidate[];
  /** The fraction of the query's weight that is in words known to full-text search. */
  known: number;
  canUseTrigrams: boolean;
};

/**
 * Searches by full text with weighted words, and by trigrams for unknown words: misspelt words, parts of identifiers, and absent
 * words. PostgreSQL's own ranking ignores how rare a word is, but rarity distinguishes an answer from a text that shares only the
 * question's common words.
 */
async function searchLexically(request: SearchRequest): Promise<Lexical> {
  const { pool, now, scope, filter, query } = request;
  const { words, language, phrases, excluded } = query;
  const [counted, usable] = await Promise.all([
    countsOfWords(pool, scope, filter, { words, language, now }),
    canUseTrigrams(pool),
  ]);
  const weighed = counted.map(each => ({ ...each, weight: weightOf(each.found) }));
  const known = weighed.filter(({ found }) => found > 0);
  const unknown = weighed.filter(({ found }) => found === 0).map(({ word }) => word);
  const rare = known.filter(({ found }) => found < COMMON_FROM);
  const common = known.filter(({ found }) => found >= COMMON_FROM);
  const similar = unknown
    .map(word => (isPrefix(word) ? word.slice(0, -1) : word))
    .filter(word => word.length >= MIN_TRIGRAM_LENGTH && !isCommon(word, language))
    .slice(0, MAX_TRIGRAM_WORDS);
  const search = { language, rare, common, phrases, excluded, limit: MAX_CANDIDATES };
  const [text, trigram, inPhrases] = await Promise.all([
    searchByWords(request, search),
    usable && similar.length > 0 ? searchTrigrams(pool, scope, filter, similar) : [],
    searchPhrases(pool, scope, filter, query),
  ]);
  const total = totalOf(weighed);
  const covered = text.filter(({ level = 0 }) => level >= MIN_COVERAGE * total);
  const isPhrase = new Set(inPhrases.map(({ id }) => id));
  return {
    text: [...inPhrases.map(each => ({ ...each, level: total })), ...covered.filter(({ id }) => !isPhrase.has(id))],
    trigram,
    // A found phrase counts as the whole query.
    known: inPhrases.length > 0 ? 1 : totalOf(known) / Math.max(total, Number.MIN_VALUE),
    canUseTrigrams: usable,
  };
}

/** Searches for all common words, or for any two of them if no memory has all. */
async function searchByWords(
  { pool, scope, filter }: SearchRequest,
  search: Omit<TextSearch, 'together'>,
): Promise<Candidate[]> {
  const found = await searchWords(pool, scope, filter, { ...search, together: 'all' });
  if (found.length > 0 || search.common.length < 3) return found;
  return searchWords(pool, scope, filter, { ...search, together: 'two' });
}

const weightOf = (found: number): number => Math.log(1 + (ASSUMED_MEMORIES - found + 0.5) / (found + 0.5));
const totalOf = (words: readonly WeighedWord[]): number => words.reduce((sum, { weight }) => sum + weight, 0);

/** Returns the fraction of the query that the longest subject makes up: a query that is a subject means that subject. */
function subjectWeight({ words, ids }: ParsedQuery, named: readonly Candidate[]): number {
  if (ids.length > 0) return 1;
  const longest = named[0]?.score ?? 0;
  const length = words.join(' ').length;
  return length === 0 ? 0 : Math.min(1, longest / length);
}

async function readBest(
  { pool, scope, filter, query }: SearchRequest,
  fused: readonly Fused[],
  isItem: ReadonlySet<string>,
  { k }: Input,
): Promise<HitRow[]> {
  const best = fused.slice(0, k * READ_PER_HIT + 20);
  if (best.length === 0) return [];
  return readHits(pool, scope, filter, {
    itemIds: best.flatMap(({ id }) => (isItem.has(id) ? [id] : [])),
    chunkIds: best.flatMap(({ id }) => (isItem.has(id) ? [] : [id])),
    demands: query,
  });
}

type RankedHit = Fused & Statement & { row: HitRow; tokens: number; words: ReadonlySet<string> };

/** Returns a function that tells whether two memories match equally well by full text and trigrams. */
function alikeByWords({ text, trigram }: Lexical): AreAlike {
  const levels = new Map(text.map(({ id, level }) => [id, level]));
  const scores = new Map(trigram.map(({ id, score }) => [id, score.toFixed(2)]));
  return (one, other) => levels.get(one) === levels.get(other) && scores.get(one) === scores.get(other);
}

function rank(lists: readonly RankedList[], rows: readonly HitRow[], k: number, areAlike: AreAlike): RankedHit[] {
  const byId = new Map(rows.map(row => [row.id, row]));
  const fresh = [...rows].sort(
    (a, b) => b.fresh_at.getTime() - a.fresh_at.getTime() || b.uses - a.uses || (a.id < b.id ? 1 : -1),
  );
  // Hits that may not be shown take no ranks.
  const shown = lists.map(list => ({ ...list, candidates: list.candidates.filter(({ id }) => byId.has(id)) }));
  const all = fuse([
    ...shown,
    { signal: 'recency', weight: RECENCY_WEIGHT, candidates: fresh.map(({ id }) => ({ id })) },
  ]);
  const hits = all.flatMap(each => {
    const row = byId.get(each.id);
    if (row === undefined) return [];
    const words = new Set(wordsOf(row.folded));
    const textWords = new Set(wordsOf(fold(row.text)));
    return [{ ...each, row, tokens: row.tokens, words, textWords, saidAt: row.occurred_at }];
  });
  return diversify(withoutRepetitions(putNewestFirst(hits, areAlike)), k);
}

/** Returns the hits without those that repeat the text of an earlier one. */
function withoutRepetitions(hits: readonly RankedHit[]): RankedHit[] {
  const seenTexts = new Set<string>();
  return hits.filter(({ row }) => {
    const saying = wordsOf(row.folded).join(' ');
    return !seenTexts.has(saying) && seenTexts.add(saying);
  });
}

function toWire({ row, score, ranks }: RankedHit, explain: boolean): z.input<typeof SearchOutput>['hits'][number] {
  return {
    id: row.id,
    type: row.is_item ? 'item' : 'chunk',
    kind: row.kind,
    subject: row.subject,
    text: row.text,
    trust: row.trust,
    visibility: visibilityOf({ projectId: row.project_id, userId: row.user_id }),
    status: row.status,
    episode_id: row.episode_id,
    source: row.source_ref,
    occurred_at: isoTimestamp(row.occurred_at.getTime()),
    score,
    ...(explain ? { ranks } : {}),
  };
}
