import type { Services } from '../../../operation/services.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import {
  FORGET,
  type MemoryToolCall,
  type MemoryTools,
  REMEMBER,
} from '../../../orchestrator/steps/agent/memory-tools.ts';
import type { RunAuthority, Standing } from '../../../orchestrator/steps/agent/run-authority.ts';
import { AppError } from '../../../platform/errors.ts';
import { isId } from '../../../platform/ids.ts';
import { whileDatabaseAway } from '../../../platform/postgres/while-away.ts';
import { recordAudit } from '../../audit/record.ts';
import { deleteItems } from '../items/chain-store.ts';
import { findItem, inItemTransaction } from '../items/store.ts';
import { findOutside } from '../outside-store.ts';
import { insertRecall } from '../recalls-store.ts';
import { MAX_QUERY_LENGTH } from '../schemas.ts';
import { type MemoryScope, mayWrite, visibilityOf } from '../scope.ts';
import { searchIn } from '../search/search.ts';
import { Refusal } from './refusal.ts';
import { remember } from './remember.ts';

type ToolServices = Pick<Services, 'config' | 'pool' | 'prisma' | 'secrets' | 'clock' | 'embed' | 'logger'> & {
  authority: RunAuthority;
};
type Held = Extract<Standing, { kind: 'held' }>;
type Work = { services: ToolServices; call: MemoryToolCall; scope: MemoryScope; standing: Held };

const SCOPE = 'memory:use';
const DEFAULT_FOUND = 8;
/** The maximum number of tokens of the texts that a search returns. */
const MAX_FOUND_TOKENS = 1_600;

/** Creates the memory tools of agents. They act with the current rights of the user for whom the run acts. */
export function createMemoryTools(services: ToolServices): MemoryTools {
  return {
    async call(call, signal) {
      try {
        const standing = await services.authority.standing(call.run, signal);
        const { tenantId, projectId } = call.run;
        const held = requireHeld(services, standing);
        const work = { services, call, standing: held, scope: { tenantId, projectId, userId: held.userId } };
        return { kind: 'result', result: await whileDatabaseAway(signal, () => perform(work)) };
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal === null) throw error;
        return { kind: 'failed', ...refusal, retryable: false };
      }
    },
  };
}

function requireHeld({ config }: ToolServices, standing: Standing): Held {
  if (!config.memory.on) throw new Refusal('memory_not_configured', 'This deployment has no memory.');
  if (standing.kind === 'lost') throw new Refusal(standing.code, standing.message);
  if (standing.scopes.includes(SCOPE)) return standing;
  throw new Refusal('authority_lost', `The token of ${standing.email} does not have the scope ${SCOPE}.`);
}

function refusalOf(error: unknown): { code: string; message: string } | null {
  if (error instanceof Refusal || (error instanceof AppError && error.status < 500))
    return { code: error.code, message: error.message };
  return null;
}

function perform(work: Work): Promise<JsonMap> {
  const { services, call, scope } = work;
  if (call.write !== 'off' && call.tool === REMEMBER) return remember(services, scope, call);
  if (call.write !== 'off' && call.tool === FORGET) return forgetItem(work);
  return search(work);
}

async function search({ services, call, scope }: Work): Promise<JsonMap> {
  const { run, step, args, agentId, read } = call;
  const query = String(args.query ?? '').slice(0, MAX_QUERY_LENGTH);
  if (!/\S/.test(query) || !query.isWellFormed() || query.includes('\0'))
    throw new Refusal('invalid_arguments', 'The query contains no text.');
  const k = typeof args.k === 'number' ? args.k : DEFAULT_FOUND;
  const input = { query, k, max_tokens: MAX_FOUND_TOKENS, include_superseded: false, explain: false };
  const about = { workflowId: run.workflowId, agentId: agentId ?? run.workflowId };
  const { hits, degraded } = await searchIn(services, scope, input, { ...about, visibilities: read });
  const ids = hits.map(({ id }) => id);
  if (ids.length > 0)
    await insertRecall(services.pool, scope, ids, new Date(services.clock.now()), { runId: run.id, stepId: step });
  const outside = await findOutside(services.pool, scope.tenantId, ids);
  const memories = hits.map(({ id, text, subject, source, occurred_at, trust }) => ({
    id,
    text,
    source: subject ?? source ?? 'unknown',
    date: occurred_at,
    ...(trust === 'untrusted' && { untrusted: true }),
    ...(trust !== 'untrusted' && outside.has(id) && { outside: true }),
  }));
  return { memories, ...(degraded.length > 0 && { degraded }) };
}

/** Deletes an item whose text a person has seen and approved. Throws Refusal if the item has another text. */
async function forgetItem({ services, call, scope, standing }: Work): Promise<JsonMap> {
  const { id, text } = call.args;
  const itemId = typeof id === 'string' ? id.replace(/^m:/, '') : '';
  await inItemTransaction(services.pool, scope.tenantId, async db => {
    const item = isId(itemId) ? await findItem(db, scope, itemId, { lock: true }) : null;
    if (item === null)
      throw new Refusal('not_found', 'There is no such memory. Parts of conversations cannot be forgotten here.');
    if (item.text !== text) throw new Refusal('text_differs', 'The memory of this id has another text.');
    const visibility = visibilityOf({ projectId: item.project_id, userId: item.user_id });
    if (!mayWrite(standing.role, visibility))
      throw new Refusal('insufficient_role', `${standing.email} may not forget memories of the ${visibility}.`);
    await deleteItems(db, scope.tenantId, [itemId]);
  });
  await recordAudit(services, {
    tenantId: scope.tenantId,
    projectId: scope.projectId,
    userId: scope.userId,
    patId: null,
    surface: 'mcp',
    operation: 'memory_items_delete',
    action: null,
    target: { id: itemId, run_id: call.run.id },
    outcome: 'ok',
    requestId: `${call.run.id}:${call.step}`,
    clientAddress: null,
  });
  return { forgotten: itemId };
}
