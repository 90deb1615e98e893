import type { Pool } from 'pg';
import { insertEpisode } from '../../server/domains/memory/episodes/store.ts';
import { proposeItems } from '../../server/domains/memory/items/propose.ts';
import { SearchInput } from '../../server/domains/memory/schemas.ts';
import { searchMemory } from '../../server/domains/memory/search/search.ts';
import type { Context, Principal } from '../../server/operation/context.ts';
import type { Embed } from '../../server/operation/embed.ts';
import { newId } from '../../server/platform/ids.ts';

/** A workspace with a person, and functions for measuring that person's memories. */
export type MemoryUser = {
  principal: Principal;
  ctx: Context;
  /** Sets the time at which statements are remembered and questions asked; null: now. */
  setTime: (at: string | null) => void;
};
const CHUNKS_PER_EPISODE = 250;

/** Creates a workspace, its project and a member, whose session writes and searches memories. */
export async function createMemoryUser(pool: Pool, slug: string, embed: Embed): Promise<MemoryUser> {
  const [projectId, userId] = [newId(), newId()];
  await pool.query('INSERT INTO tenants (slug, name, created_at) VALUES ($1, $1, now())', [slug]);
  await pool.query('INSERT INTO projects (id, tenant_id, name, created_at) VALUES ($1, $2, $2, now())', [
    projectId,
    slug,
  ]);
  await pool.query(`INSERT INTO users (id, email, name, password_hash, created_at) VALUES ($1, $2, $2, '', now())`, [
    userId,
    `${slug}@example.com`,
  ]);
  await pool.query(
    'INSERT INTO memberships (tenant_id, user_id, tenant_admin, created_at) VALUES ($1, $2, true, now())',
    [slug, userId],
  );
  const credential = { kind: 'session' } as const;
  const principal: Principal = {
    userId,
    email: '',
    name: '',
    tenantId: slug,
    projectId,
    role: 'tenant_admin',
    credential,
  };
  const noConnections = { connection: { findMany: async () => [] } };
  let time: number | null = null;
  const clock = { now: () => time ?? Date.now() };
  const services = { pool, embed, clock, prisma: noConnections, secrets: {} };
  const setTime: MemoryUser['setTime'] = at => {
    time = at === null ? null : Date.parse(at);
  };
  return { principal, ctx: { principal, services } as unknown as Context, setTime };
}

/** Indexes texts as turns of conversations. Returns the ids of the episodes. */
export async function indexTexts(
  { principal, ctx }: MemoryUser,
  texts: readonly string[],
  occurredAt = new Date(),
): Promise<string[]> {
  const { tenantId, projectId, userId } = principal;
  const ids: string[] = [];
  for (let from = 0; from < texts.length; from += CHUNKS_PER_EPISODE) {
    const part = texts.slice(from, from + CHUNKS_PER_EPISODE);
    const chunks = part.map(text => ({ role: 'user', trust: 'trusted' as const, text, occurredAt }));
    const about = {
      source: 'thread',
      sourceRef: newId(),
      title: 'bench',
      trust: 'trusted',
      workflowId: null,
      agentId: null,
    } as const;
    const who = { tenantId, projectId, userId: null, createdBy: userId };
    const { id } = await insertEpisode(
      ctx.services.pool,
      { ...about, ...who, contentHash: Buffer.from(newId()), occurredAt, at: occurredAt, chunks },
      { replace: false },
    );
    ids.push(id);
  }
  return ids;
}

type NewFact = { subject: string; text: string; valid_from?: string; supersedes?: string };

/** Remembers facts stated by a person; returns their ids. */
export async function rememberFacts({ ctx }: MemoryUser, facts: readonly NewFact[]): Promise<string[]> {
  const whole = facts.map(fact => ({
    kind: 'fact' as const,
    evidence: [],
    confidence: 1,
    visibility: 'project' as const,
    ...fact,
  }));
  const { items } = await proposeItems(ctx, { items: whole, remember: true });
  return items.map(({ id }) => id);
}

/** Returns the texts that a search finds, best first. */
export async function search(
  { ctx }: MemoryUser,
  query: string,
  more: { k?: number; as_of?: string } = {},
): Promise<string[]> {
  const { hits } = await searchMemory(ctx, SearchInput.parse({ query, ...more }));
  return hits.map(({ text }) => text);
}
