import type { z } from 'zod';
import { memoryOperations } from '../domains/memory/operations.ts';
import type * as schema from '../domains/memory/schemas.ts';
import type { Principal } from '../operation/context.ts';
import { newId } from '../platform/ids.ts';
import { type Call, createCall } from './call.ts';
import { createTestServices, createTestTenant, type TestTenant, withScopes } from './identity.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

export type SearchResult = z.output<typeof schema.SearchOutput>;
export type ItemResult = z.output<typeof schema.ItemWithEvidence>;
export type EpisodeResult = z.output<typeof schema.GetEpisodeOutput>;

export type TestMemory = {
  db: TestDatabase;
  tenant: TestTenant;
  services: ReturnType<typeof createTestServices>;
  call: Call<typeof memoryOperations>;
  /** Indexes turns `[role, text]` as one episode; returns its id and its chunks. */
  said(by: Principal, turns: [string, string][], more?: Record<string, unknown>): Promise<EpisodeResult>;
  /** Adds an active item that a person wrote. */
  remember(by: Principal, subject: string, text: string, more?: Record<string, unknown>): Promise<string>;
  /** Returns the texts that a search finds. */
  find(by: Principal, query: string, more?: Record<string, unknown>): Promise<string[]>;
  search(by: Principal, query: string, more?: Record<string, unknown>): Promise<SearchResult>;
  /** Creates a workflow or an agent of a project that memories can be about; returns its id. */
  subjectOf(by: Principal, kind: 'workflow' | 'agent'): Promise<string>;
  close(): Promise<void>;
};

/** Returns the principal of a token that is only for memory, as programs and agents use it. */
export const programOf = (principal: Principal): Principal => withScopes(principal, 'memory:use');

let threads = 0;

/** Creates memory on a separate database, with one tenant. */
export async function createTestMemory(given: Parameters<typeof createTestServices>[1] = {}): Promise<TestMemory> {
  const db = await createTestDatabase();
  const services = createTestServices(db, given);
  const tenant = await createTestTenant(services, { slug: 'acme' });
  const call = createCall(services, memoryOperations);
  const search: TestMemory['search'] = async (by, query, more = {}) =>
    (await call(by, 'memory_search', { query, ...more })) as SearchResult;
  return {
    db,
    tenant,
    services,
    call,
    search,
    async said(by, turns, more = {}) {
      threads += 1;
      const { episode_id: id } = (await call(by, 'memory_index_conversation', {
        thread_id: `thread-${threads}`,
        turns: turns.map(([role, text]) => ({ role, text })),
        ...more,
      })) as z.output<typeof schema.IndexOutput>;
      return (await call(by, 'memory_get_episode', { id })) as EpisodeResult;
    },
    async remember(by, subject, text, more = {}) {
      const { items } = (await call(by, 'memory_propose_items', {
        items: [{ subject, text, ...more }],
        remember: true,
      })) as z.output<typeof schema.ProposeOutput>;
      return items[0]?.id ?? '';
    },
    async find(by, query, more = {}) {
      return (await search(by, query, more)).hits.map(({ text }) => text);
    },
    async subjectOf({ tenantId, projectId, userId }, kind) {
      const now = new Date(services.clock.now());
      const empty = { description: '', status: 'draft', graph: {}, runSetup: {}, graphChecksum: '' };
      const { id } = await db.prisma.workflow.create({
        data: {
          id: newId(),
          tenantId,
          projectId,
          name: kind,
          kind,
          ...empty,
          revision: 1,
          createdBy: userId,
          createdAt: now,
          updatedAt: now,
        },
      });
      return id;
    },
    close: () => db.close(),
  };
}
