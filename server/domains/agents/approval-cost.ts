import type { ActionPrices } from '../../orchestrator/ports/billable-actions.ts';
import { PERSON } from '../../orchestrator/steps/agent/ask-user.ts';
import { MEMORY } from '../../orchestrator/steps/agent/memory-tools.ts';
import type { PlannedTool } from '../../orchestrator/steps/agent/plan.ts';
import { PLATFORM } from '../../orchestrator/steps/agent/platform-tools.ts';
import { isId } from '../../platform/ids.ts';

/**
 * Returns the maximum charge for a call of an agent, in microcredits. Null: the maximum is unknown, because the call may start or continue
 * runs. Undefined: the tool asks a person, so that no call is charged. A call has one attempt only.
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
      // An id names an MCP instance. Other tools may start runs with several steps.
      return isId(tool.instance_id.toLowerCase()) ? prices.workflow_step + prices.tool_call : null;
  }
}
