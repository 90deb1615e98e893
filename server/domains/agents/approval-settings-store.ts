import { type Approval, NO_APPROVALS, type WorkspaceApprovals } from '../../orchestrator/core/tool-entries.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';

type Models = Pick<Transaction, 'agentSettings' | 'workflow'>;
type ApprovalRow = Record<'read_approval' | 'write_approval' | 'risky_approval', Approval | null>;

const toRow = (stored: { readApproval: string | null; writeApproval: string | null; riskyApproval: string | null }) =>
  // What is stored was checked before it was.
  ({
    read_approval: stored.readApproval,
    write_approval: stored.writeApproval,
    risky_approval: stored.riskyApproval,
  }) as ApprovalRow;

/** Returns what the workspace has decided; nulls where it has decided nothing. */
export async function readApprovals(prisma: Pick<Models, 'agentSettings'>, tenantId: string): Promise<ApprovalRow> {
  const stored = await prisma.agentSettings.findUnique({ where: { tenantId } });
  return toRow(stored ?? { readApproval: null, writeApproval: null, riskyApproval: null });
}

/** Replaces what is given; null takes a decision back. */
export async function saveApprovals(
  prisma: Pick<Models, 'agentSettings'>,
  tenantId: string,
  { read_approval, write_approval, risky_approval }: { [Field in keyof ApprovalRow]?: Approval | null | undefined },
  { by, at }: { by: string; at: Date },
): Promise<ApprovalRow> {
  // Prisma leaves alone what is undefined.
  const changes = {
    readApproval: read_approval,
    writeApproval: write_approval,
    riskyApproval: risky_approval,
    updatedBy: by,
    updatedAt: at,
  };
  return toRow(
    await prisma.agentSettings.upsert({ where: { tenantId }, create: { tenantId, ...changes }, update: changes }),
  );
}

/** Returns the approvals that count in a run of a workflow: none in one of Autopilot. */
export async function approvalsInRun(
  prisma: Models,
  { tenantId, workflowId }: { tenantId: string; workflowId: string },
): Promise<WorkspaceApprovals> {
  const { read_approval: read, write_approval: write, risky_approval: risky } = await readApprovals(prisma, tenantId);
  if (read === null && write === null && risky === null) return NO_APPROVALS;
  const own = await prisma.workflow.findFirst({ where: { id: workflowId, tenantId }, select: { kind: true } });
  return own?.kind === 'autopilot' ? NO_APPROVALS : { read, write, risky };
}
