import { bitsOf, codesOf } from '../../server/domains/memory/embeddings/quantize.ts';
import type { Embed } from '../../server/operation/embed.ts';
import type { BenchService } from '../baton/service.ts';
import { percentile } from '../load.ts';
import { measureJunk } from '../memory/junk.ts';
import { MadeTexts } from '../memory/random.ts';
import { measureRecall } from '../memory/recall.ts';
import { createMemoryUser, indexTexts, type MemoryUser, search } from '../memory/store.ts';
import { measureUpdates } from '../memory/updates.ts';
import type { Figures, Measure } from '../system/system.ts';

const SEED = 7;
const DIMENSIONS = 768;
const QUERIES = 200;
const WARM_UP = 20;
/** Vectors are created once and shared by many texts: creating a million of them takes longer than searching them. */
const DISTINCT_VECTORS = 1_000;
const SMALL_TENANT = 100;
const RECALL = { people: 200, sessions: 50 };
const NOISY_TURNS = 1_000;

/**
 * Indexes and searches `count` memories of one workspace beside `count` memories of many small ones, and measures the recall and the junk
 * of seeded sets.
 */
export async function memory(service: BenchService, count: number, measure: Measure): Promise<Figures> {
  const { pool } = service;
  const texts = new MadeTexts(SEED);
  const embed: Embed = async () => ({ kind: 'vectors', vectors: [texts.vector(DIMENSIONS)] });
  const large = await createMemoryUser(pool, 'large', embed);
  const all = Array.from({ length: count }, () => texts.text());
  const indexing = await measure(() => indexTexts(large, all));
  const small = await createSmallWorkspaces(service, large, count, embed);
  await pool.query('VACUUM (ANALYZE) memory_chunks');
  const questions = Array.from({ length: Math.min(QUERIES, count) }, (_, at) =>
    texts.question(all[(at * 7919) % all.length] ?? ''),
  );
  const byText = await timesOf(large, questions);
  const ofSmall = await timesOf(small, questions);
  await addVectors(service, large, texts);
  await pool.query('VACUUM (ANALYZE) memory_bits, memory_codes');
  const hybrid = await timesOf(large, questions);
  const share = Math.min(1, count / 10_000);
  const people = Math.max(2, Math.round(RECALL.people * share));
  return {
    'indexed chunks/s': count / indexing.seconds,
    'text p50 ms': percentile(byText, 0.5),
    'text p99 ms': percentile(byText, 0.99),
    'hybrid p50 ms': percentile(hybrid, 0.5),
    'hybrid p99 ms': percentile(hybrid, 0.99),
    'text p50 ms of a small workspace': percentile(ofSmall, 0.5),
    ...(await measureRecall(pool, people, RECALL.sessions)),
    ...(await measureUpdates(pool, people)),
    ...(await measureJunk(pool, Math.max(20, Math.round(NOISY_TURNS * share)))),
  };
}

/** Returns the times of searches, ascending, after a warm-up: the first searches read the indexes from disk. */
async function timesOf(user: MemoryUser, questions: readonly string[]): Promise<number[]> {
  for (const question of questions.slice(0, WARM_UP)) await search(user, question);
  const times: number[] = [];
  for (const question of questions) {
    const from = performance.now();
    await search(user, question);
    times.push(performance.now() - from);
  }
  return times.sort((a, b) => a - b);
}

/** Copies every hundred memories of the large workspace to a small one, in the database itself; returns one of the small workspaces. */
async function createSmallWorkspaces(
  { pool }: BenchService,
  { principal }: MemoryUser,
  count: number,
  embed: Embed,
): Promise<MemoryUser> {
  const one = await createMemoryUser(pool, 'small-0', embed);
  await pool.query(
    `INSERT INTO memory_episodes SELECT 'small-' || n, e.id, CASE WHEN n = 0 THEN $2::uuid END, NULL, NULL, NULL, e.source, e.source_ref,
       e.title, e.trust, e.content_hash, e.occurred_at, e.created_by, e.created_at
     FROM generate_series(0, $3::int - 1) n, (SELECT * FROM memory_episodes WHERE tenant_id = $1 LIMIT 1) e`,
    [principal.tenantId, one.principal.projectId, Math.ceil(count / SMALL_TENANT)],
  );
  await pool.query(
    `INSERT INTO memory_chunks (tenant_id, id, episode_id, project_id, position, role, trust, text, folded, words, tokens, occurred_at)
     SELECT e.tenant_id, gen_random_uuid(), e.id, e.project_id, 0, c.role, c.trust, c.text, c.folded, c.words, c.tokens, c.occurred_at
     FROM (SELECT *, (row_number() OVER (ORDER BY id) - 1) / $2::int AS nth FROM memory_chunks WHERE tenant_id = $1) c
     JOIN memory_episodes e ON e.tenant_id = 'small-' || c.nth`,
    [principal.tenantId, SMALL_TENANT],
  );
  return one;
}

async function addVectors({ pool }: BenchService, { principal }: MemoryUser, texts: MadeTexts): Promise<void> {
  const { tenantId, userId } = principal;
  const space = `bench#${DIMENSIONS}`;
  await pool.query(
    `INSERT INTO memory_settings (tenant_id, embedding_model, dimensions, space, ready_at, updated_by, updated_at)
     VALUES ($1, 'bench', $2, $3, now(), $4, now())`,
    [tenantId, DIMENSIONS, space, userId],
  );
  const vectors = Array.from({ length: DISTINCT_VECTORS }, () => texts.vector(DIMENSIONS));
  const values = [tenantId, space, DISTINCT_VECTORS, vectors.map(bitsOf), vectors.map(codesOf)];
  await pool.query(
    `WITH numbered AS (SELECT id, project_id, 1 + row_number() OVER () % $3::int AS nth FROM memory_chunks WHERE tenant_id = $1),
       codes AS (INSERT INTO memory_codes SELECT $1, $2, id, ($5::bytea[])[nth] FROM numbered)
     INSERT INTO memory_bits (tenant_id, space, target_id, is_item, project_id, bits)
     SELECT $1, $2, id, false, project_id, ($4::text[])[nth]::varbit FROM numbered`,
    values,
  );
}
