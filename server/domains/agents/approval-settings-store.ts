import { type Approval, NO_APPROVALS, type WorkspaceApprovals } from '../../orchestrator/core/tool-entries.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';

type Models = Pick<Transaction, 'agentSettings' | 'workflow'>;
type ApprovalRow = Record<'read_approval' | 'write_approval' | 'risky_approval', Approval | null>;

const toRow = (stored: { readApproval: string | null; writeApproval: string | null; riskyApproval: string | null }) =>
  // The values were validated before they were stored.
  ({
    read_approval: stored.readApproval,
    write_approval: stored.writeApproval,
    risky_approval: stored.riskyApproval,
  }) as ApprovalRow;

/** Returns the approvals that the workspace has decided on. A null field is undecided. */
export async function readApprovals(prisma: Pick<Models, 'agentSettings'>, tenantId: string): Promise<ApprovalRow> {
  const stored = await prisma.agentSettings.findUnique({ where: { tenantId } });
  return toRow(stored ?? { readApproval: null, writeApproval: null, riskyApproval: null });
}

/** Replaces the given approvals. Null resets one to undecided. */
export async function saveApprovals(
  prisma: Pick<Models, 'agentSettings'>,
  tenantId: string,
  { read_approval, write_approval, risky_approval }: { [Field in keyof ApprovalRow]?: Approval | null | undefined },
  { by, at }: { by: string; at: Date },
): Promise<ApprovalRow> {
  // Prisma does not change fields that are undefined.
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

/** Returns the approvals of the workspace that apply to runs of this workflow. None apply to Autopilot. */
export async function approvalsInRun(
  prisma: Models,
  { tenantId, workflowId }: { tenantId: string; workflowId: string },
): Promise<WorkspaceApprovals> {
  const { read_approval: read, write_approval: write, risky_approval: risky } = await readApprovals(prisma, tenantId);
  if (read === null && write === null && risky === null) return NO_APPROVALS;
  const own = await prisma.workflow.findFirst({ where: { id: workflowId, tenantId }, select: { kind: true } });
  return own?.kind === 'autopilot' ? NO_APPROVALS : { read, write, risky };
}
