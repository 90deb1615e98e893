import type { ActionPrices } from '../../orchestrator/ports/billable-actions.ts';
import { PERSON } from '../../orchestrator/steps/agent/ask-user.ts';
import { MEMORY } from '../../orchestrator/steps/agent/memory-tools.ts';
import type { PlannedTool } from '../../orchestrator/steps/agent/plan.ts';
import { PLATFORM } from '../../orchestrator/steps/agent/platform-tools.ts';
import { isId } from '../../platform/ids.ts';

/**
 * Returns what a call of an agent may be charged at most, in microcredits at these prices; null where that is not known, because the
 * call may start or continue runs; undefined for a question to a person, which is no call. A call is one attempt: it is not retried.
 */
export function maxCostOfCall(tool: PlannedTool, prices: ActionPrices): number | null | undefined {
  switch (tool.instance_id) {
    case PERSON:
      return undefined;
    case MEMORY:
      return prices.workflow_step;
    case PLATFORM:
      return tool.read_only ? prices.workflow_step : null;
    default:
      // The ids of MCP instances; anything else that is called may do more than one step.
      return isId(tool.instance_id.toLowerCase()) ? prices.workflow_step + prices.tool_call : null;
  }
}
