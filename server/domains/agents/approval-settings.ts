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

/** PATCH /v1/agents/settings: changes what is given; null takes a decision back. */
export async function patchAgentSettings(
  { principal, services }: Context,
  changes: z.output<typeof PatchAgentSettingsInput>,
): Promise<Settings> {
  const by = { by: principal.userId, at: new Date(services.clock.now()) };
  return saveApprovals(services.prisma, principal.tenantId, changes, by);
}

/** Returns the decisions of workspaces for the agents of their runs. Autopilot's own agent only proposes: they are not about it. */
export function createApprovalSettings(services: Pick<Services, 'prisma'>): ApprovalSettings {
  return { of: ({ tenantId, workflowId }) => approvalsInRun(services.prisma, { tenantId, workflowId }) };
}
