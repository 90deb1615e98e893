import { agentOperations } from '../domains/agents/operations.ts';
import { analyticsOperations } from '../domains/analytics/operations.ts';
import { auditOperations } from '../domains/audit/operations.ts';
import { autopilotOperations } from '../domains/autopilot/operations.ts';
import { billingOperations } from '../domains/billing/operations.ts';
import { chatOperations } from '../domains/chat/operations.ts';
import { connectionOperations } from '../domains/connections/operations.ts';
import { identityOperations } from '../domains/identity/operations.ts';
import { patOperations } from '../domains/identity/pats/operations.ts';
import { mcpServerOperations } from '../domains/mcp-servers/operations.ts';
import { memoryOperations } from '../domains/memory/operations.ts';
import { modelOperations } from '../domains/models/operations.ts';
import { notificationOperations } from '../domains/notifications/operations.ts';
import { runStopOperations } from '../domains/run-stops/operations.ts';
import { runViewOperations } from '../domains/run-views/operations.ts';
import { runOperations } from '../domains/runs/operations.ts';
import { taskOperations } from '../domains/tasks/operations.ts';
import { webhookOperations } from '../domains/webhooks/operations.ts';
import { workflowOperations } from '../domains/workflows/operations.ts';
import type { AnyOperation } from '../operation/operation.ts';

/**
 * Every operation of the service, domain by domain. The console's types and all surfaces are derived from this tuple.
 */
export const operations = [
  ...identityOperations,
  ...patOperations,
  ...workflowOperations,
  ...runOperations,
  ...runStopOperations,
  ...runViewOperations,
  ...taskOperations,
  ...notificationOperations,
  ...connectionOperations,
  ...mcpServerOperations,
  ...modelOperations,
  ...memoryOperations,
  ...agentOperations,
  ...autopilotOperations,
  ...chatOperations,
  ...webhookOperations,
  ...analyticsOperations,
  ...billingOperations,
  ...auditOperations,
] as const satisfies readonly AnyOperation[];
