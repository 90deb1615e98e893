import type { Pool } from 'pg';
import { insertEpisode } from '../../server/domains/memory/episodes/store.ts';
import { createMemoryExtractor } from '../../server/domains/memory/extraction/extractor.ts';
import { insertParts } from '../../server/domains/memory/extraction/store.ts';
import { normalizeBlanks } from '../../server/domains/memory/folding.ts';
import { insertRecall } from '../../server/domains/memory/recalls-store.ts';
import { scopeOf } from '../../server/domains/memory/scope.ts';
import type { ModelCaller } from '../../server/orchestrator/steps/llm-call/model-caller.ts';
import { newId } from '../../server/platform/ids.ts';
import type { Figures } from '../system/system.ts';
import { type Conversation, NoisyTalk, TURNS } from './noisy-talk.ts';
import { createMemoryUser, type MemoryUser } from './store.ts';

/** The number of items recalled before each conversation, for the assistant to repeat. */
const RECALLED = 5;

type ActiveItem = { id: string; text: string; quotes: { quote: string; said: string }[] };

/**
 * Extracts memories from seeded noisy conversations with a sloppy model, and measures the items that are active, and
 * thus believed, at the end. `junk`: items that no person stated, or whose evidence does not contain its quote;
 * `duplicates`: items that repeat another item; `unasked`: true items that no person asked to remember; `asked and
 * kept`: among the facts that a person asked to remember, the share that is active at the end.
 */
export async function measureJunk(pool: Pool, turns: number, seed?: number): Promise<Figures> {
  const talk = new NoisyTalk(seed);
  const who = await createMemoryUser(pool, 'noisy', async () => ({ kind: 'vectors', vectors: [] }));
  let now = Date.now();
  for (let nth = 0; nth < Math.max(1, Math.round(turns / TURNS)); nth += 1) {
    const active = await activeItems(who);
    const recalled = active.slice(-RECALLED);
    await insertRecall(
      pool,
      scopeOf(who.principal),
      recalled.map(({ id }) => id),
      new Date(now),
    );
    now += 1_000;
    await extractFrom(who, talk.conversation(recalled.map(({ text }) => text)), talk.judge, new Date(now));
  }
  const active = await activeItems(who);
  const isBased = ({ text, quotes }: ActiveItem) =>
    quotes.some(
      ({ quote, said }) => talk.isStated(text, said) && normalizeBlanks(said).includes(normalizeBlanks(quote)),
    );
  const meanings = active.map(({ text }) => talk.meaningOf(text));
  const based = active.filter(isBased);
  const percent = (part: number, whole: number) => (whole === 0 ? 0 : (100 * part) / whole);
  return {
    'junk %': percent(active.length - based.length, active.length),
    'duplicates %': percent(meanings.length - new Set(meanings).size, active.length),
    'unasked %': percent(based.filter(({ text }) => !talk.wasAsked(text)).length, active.length),
    'asked and kept %': percent(
      new Set(based.map(({ text }) => talk.meaningOf(text)).filter(m => talk.asked.has(m))).size,
      talk.asked.size,
    ),
  };
}

async function activeItems({ principal, ctx }: MemoryUser): Promise<ActiveItem[]> {
  const { rows } = await ctx.services.pool.query<ActiveItem>(
    `SELECT i.id, i.text, coalesce((SELECT json_agg(json_build_object('quote', e.quote, 'said', c.text)) FROM memory_evidence e
       JOIN memory_chunks c ON c.tenant_id = e.tenant_id AND c.id = e.chunk_id
       WHERE e.tenant_id = i.tenant_id AND e.item_id = i.id), '[]') AS quotes
     FROM memory_items i WHERE i.tenant_id = $1 AND i.status = 'active' ORDER BY i.created_at, i.id`,
    [principal.tenantId],
  );
  return rows;
}

/** Runs the step of a job on one conversation, with the rights of a contributor. */
async function extractFrom(
  { principal, ctx }: MemoryUser,
  conversation: Conversation,
  judge: (prompt: string) => object,
  at: Date,
): Promise<void> {
  const { tenantId, projectId, userId } = principal;
  const { pool } = ctx.services;
  const run = { id: newId(), workflowId: newId(), version: 1, tenantId, projectId };
  const chunks = conversation.messages.map(({ role, text }) => ({
    role,
    trust: role === 'tool' ? ('untrusted' as const) : ('trusted' as const),
    text,
    occurredAt: at,
  }));
  const { id: episodeId } = await insertEpisode(
    pool,
    {
      source: 'thread',
      sourceRef: newId(),
      title: 'noise',
      trust: 'trusted',
      workflowId: null,
      agentId: null,
      tenantId,
      projectId,
      userId,
      createdBy: userId,
      contentHash: Buffer.from(newId()),
      occurredAt: at,
      at,
      chunks,
    },
    { replace: false },
  );
  await insertParts(
    pool,
    { tenantId, projectId, runId: run.id },
    {
      workflowId: run.workflowId,
      parts: [{ episodeId, from: 0 }],
      at,
    },
  );
  const models: ModelCaller = {
    check: async () => [],
    call: async ({ prompt }) => ({
      kind: 'answer',
      text: '',
      object: (prompt.startsWith('Pairs:') ? judge(prompt) : conversation.answer(prompt)) as never,
      model: 'scripted',
      finishReason: 'stop',
      usage: { inputTokens: 0, outputTokens: 0 },
    }),
  };
  const scopes = ['memory:use', 'ai:use'];
  const standing = async () => ({ kind: 'held', userId, email: '', role: 'project_contributor', scopes }) as const;
  const services = { ...ctx.services, config: { memory: { on: true } }, clock: { now: () => at.getTime() } };
  const extractor = createMemoryExtractor({ ...services, models, authority: { standing } } as never);
  const on = { signal: new AbortController().signal, log: () => undefined };
  const call = { run, part: 0, model: 'scripted', idempotencyKey: '' };
  const answer = await extractor.extract(call, on);
  if (answer.kind === 'failed') throw new Error(`${answer.code}: ${answer.message}`);
}
