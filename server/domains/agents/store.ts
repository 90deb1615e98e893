import type { z } from 'zod';
import type { Transaction } from '../../platform/postgres/transaction.ts';
import type { ProjectScope } from '../workflows/store.ts';
import type { AgentStatus } from './schemas.ts';

/** The status in the row of an agent. Whether an agent is archived is stored with its workflow. */
export type StoredStatus = Exclude<z.output<typeof AgentStatus>, 'archived'>;
export type AgentExtras = { status: StoredStatus; starters: string[] };

type Models = Pick<Transaction, 'agent'>;

/** Inserts the fields that an agent has in addition to its workflow. The workflow must exist. */
export async function insertAgent(
  tx: Models,
  { tenantId, projectId }: ProjectScope,
  agent: AgentExtras & { id: string },
): Promise<void> {
  await tx.agent.create({ data: { ...agent, tenantId, projectId } });
}

/** Returns the fields that an agent has in addition to its workflow; null if the project has no agent with this id. */
export async function findAgentExtras(
  prisma: Models,
  { tenantId, projectId }: ProjectScope,
  id: string,
): Promise<AgentExtras | null> {
  const row = await prisma.agent.findFirst({ where: { id, tenantId, projectId } });
  return row && { status: row.status as StoredStatus, starters: row.starters };
}

/** Changes the given fields. */
export async function updateAgentExtras(
  tx: Models,
  { tenantId, projectId, id }: ProjectScope & { id: string },
  { status, starters }: { status?: StoredStatus | undefined; starters?: string[] | undefined },
): Promise<void> {
  await tx.agent.updateMany({
    where: { id, tenantId, projectId },
    data: { ...(status !== undefined && { status }), ...(starters !== undefined && { starters }) },
  });
}
