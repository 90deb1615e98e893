import type { Services } from '../../operation/services.ts';
import type {
  MemoryRecaller,
  RecallCall,
  Recalled,
  RecalledMemory,
} from '../../orchestrator/steps/agent/memory-recaller.ts';
import { readMessage } from '../../orchestrator/steps/agent/message-context.ts';
import type { RunAuthority } from '../../orchestrator/steps/agent/run-authority.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { whileDatabaseAway } from '../../platform/postgres/while-away.ts';
import { listPinned } from './items/store.ts';
import { findOutside } from './outside-store.ts';
import { insertRecall } from './recalls-store.ts';
import { MAX_QUERY_LENGTH } from './schemas.ts';
import type { MemoryScope, Narrowing } from './scope.ts';
import { searchIn } from './search/search.ts';

/** The maximum number of tokens of pinned memories, and of memories found for the question. */
const MAX_PINNED_TOKENS = 800;
const MAX_FOUND_TOKENS = 1_200;
const MAX_PINNED = 20;
const MAX_FOUND = 20;
const SCOPE = 'memory:use';

type RecallServices = Pick<Services, 'config' | 'pool' | 'clock' | 'embed'> & { authority: RunAuthority };

const NOTHING: Recalled = { pinned: [], found: [] };

/** Creates the port that recalls memories for agents, with the rights of the person for whom their run acts. */
export function createMemoryRecaller(services: RecallServices): MemoryRecaller {
  return {
    async recall(call, signal) {
      if (!services.config.memory.on) return NOTHING;
      const standing = await services.authority.standing(call.run, signal);
      if (standing.kind === 'lost') return { ...NOTHING, note: `Nothing was recalled: ${standing.message}` };
      if (!standing.scopes.includes(SCOPE)) {
        return { ...NOTHING, note: `Nothing was recalled: the token does not have the scope ${SCOPE}.` };
      }
      const { tenantId, projectId } = call.run;
      const scope = { tenantId, projectId, userId: standing.userId };
      return whileDatabaseAway(signal, () => recall(services, scope, call));
    },
  };
}

async function recall(services: RecallServices, scope: MemoryScope, call: RecallCall): Promise<Recalled> {
  const { pool, clock } = services;
  const now = new Date(clock.now());
  // Memories without an agent or workflow are recalled for all of them.
  const about = { workflowId: call.run.workflowId, agentId: call.agentId ?? call.run.workflowId };
  const narrowing: Narrowing = { ...about, visibilities: call.read };
  const rows = await listPinned(pool, scope, { narrowing, at: now, limit: MAX_PINNED });
  const pinned = withinTokens(rows, MAX_PINNED_TOKENS).map(
    (row): RecalledMemory => ({
      id: row.id,
      text: row.text,
      source: row.subject,
      date: isoTimestamp(row.valid_from.getTime()),
      untrusted: row.trust === 'untrusted',
    }),
  );
  const found = await search(services, scope, call, narrowing, new Set(pinned.map(({ id }) => id)));
  const ids = [...pinned, ...found].map(({ id }) => id);
  if (ids.length > 0) await insertRecall(pool, scope, ids, now, { runId: call.run.id, stepId: call.step });
  const outside = await findOutside(pool, scope.tenantId, ids);
  const markOutside = (memory: RecalledMemory) => (outside.has(memory.id) ? { ...memory, outside: true } : memory);
  return { pinned: pinned.map(markOutside), found: found.map(markOutside) };
}

async function search(
  services: RecallServices,
  scope: MemoryScope,
  { query }: RecallCall,
  narrowing: Narrowing,
  known: ReadonlySet<string>,
): Promise<RecalledMemory[]> {
  const text = questionOf(query);
  if (text === '') return [];
  const input = { query: text, k: MAX_FOUND, max_tokens: MAX_FOUND_TOKENS, include_superseded: false, explain: false };
  const { hits } = await searchIn(services, scope, input, narrowing);
  return hits.flatMap(hit =>
    known.has(hit.id)
      ? []
      : [
          {
            id: hit.id,
            text: hit.text,
            source: hit.subject ?? hit.source ?? 'unknown',
            date: hit.occurred_at,
            untrusted: hit.trust === 'untrusted',
          },
        ],
  );
}

/**
 * Returns the query of an agent as text to search for, without the data of the page on which it was asked. Its quotation marks and hyphens
 * neither require nor exclude anything.
 */
const questionOf = (text: string): string =>
  readMessage(text)
    .said.slice(0, MAX_QUERY_LENGTH)
    .toWellFormed()
    .replaceAll('\0', ' ')
    .replaceAll('"', ' ')
    .replaceAll(/(^|\s)-+/g, ' ')
    .trim();

function withinTokens<T extends { tokens: number }>(rows: readonly T[], maxTokens: number): T[] {
  let sum = 0;
  return rows.filter(({ tokens }) => {
    sum += tokens;
    return sum <= maxTokens;
  });
}
