import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import type { ApprovalSettings } from '../../orchestrator/steps/agent/tool-plan.ts';
import { approvalsInRun, readApprovals, saveApprovals } from './approval-settings-store.ts';
import type { AgentSettingsSchema, PatchAgentSettingsInput } from './schemas.ts';

type Settings = z.input<typeof AgentSettingsSchema>;

/** GET /v1/agents/settings: the approvals that the workspace has decided on. */
export async function getAgentSettings({ principal, services }: Context): Promise<Settings> {
  return readApprovals(services.prisma, principal.tenantId);
}

/** PATCH /v1/agents/settings: replaces the given approvals. Null resets one to undecided. */
export async function patchAgentSettings(
  { principal, services }: Context,
  changes: z.output<typeof PatchAgentSettingsInput>,
): Promise<Settings> {
  const by = { by: principal.userId, at: new Date(services.clock.now()) };
  return saveApprovals(services.prisma, principal.tenantId, changes, by);
}

/** Creates the port through which agents read their workspace's approvals. None apply to Autopilot, because it only proposes. */
export function createApprovalSettings(services: Pick<Services, 'prisma'>): ApprovalSettings {
  return { of: ({ tenantId, workflowId }) => approvalsInRun(services.prisma, { tenantId, workflowId }) };
}
