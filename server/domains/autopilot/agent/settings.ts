import { type AgentSettings, ALL_MEMORIES, newSettings } from '../../agents/settings.ts';
import { INSTRUCTIONS } from './instructions.ts';

/** What Autopilot reads with the rights of the person who talks to it. */
const READS = [
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
/** What it does beside: none of it changes a workflow. Applying and publishing are left to people, and never belong here. */
const PROPOSES = ['autopilot_propose', 'autopilot_edit_proposal', 'autopilot_try_proposal'];

const LIMITS = { max_turns: 60, max_tool_calls: 200, timeout_s: 3_600 };

/** What the built-in agent is told and may do. */
export function autopilotSettings(model: string): AgentSettings {
  const operations = { type: 'platform' as const, operations: [...READS, ...PROPOSES], approval: 'auto' as const };
  const tools = [operations, { type: 'ask_user' as const }];
  return newSettings({ model, instructions: INSTRUCTIONS, memory: ALL_MEMORIES, tools, limits: LIMITS });
}
