import { type AgentSettings, ALL_MEMORIES, newSettings } from '../../agents/settings.ts';
import { INSTRUCTIONS } from './instructions.ts';

/** The operations with which Autopilot reads, under the rights of the person in the conversation. */
const READ_OPERATIONS = [
  'workflows_list',
  'workflows_get',
  'workflows_get_version',
  'runs_list_tenant',
  'runs_get_summary',
  'runs_get_step',
  'runs_list_events',
  'agents_list',
  'connections_list',
  'llm_catalog_list',
  'memory_search',
  'autopilot_describe_step_types',
  'autopilot_find_tools',
  'autopilot_list_proposals',
  'autopilot_get_proposal',
  'autopilot_get_trial',
];
/**
 * The operations with which Autopilot proposes and tries changes. None of them may change a workflow: only people apply
 * and publish.
 */
const PROPOSAL_OPERATIONS = ['autopilot_propose', 'autopilot_edit_proposal', 'autopilot_try_proposal'];

const LIMITS = { max_turns: 60, max_tool_calls: 200, timeout_s: 3_600 };

/** Returns the settings of the built-in agent: its model, instructions, tools and limits. */
export function autopilotSettings(model: string): AgentSettings {
  const operations = {
    type: 'platform' as const,
    operations: [...READ_OPERATIONS, ...PROPOSAL_OPERATIONS],
    approval: 'auto' as const,
  };
  const tools = [operations, { type: 'ask_user' as const }];
  return newSettings({ model, instructions: INSTRUCTIONS, memory: ALL_MEMORIES, tools, limits: LIMITS });
}
