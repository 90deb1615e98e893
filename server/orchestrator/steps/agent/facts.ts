import type { StepFacts } from '../../ports/step-declarations.ts';

/** The default timeout of the agent's own attempts, which read its tools with a few queries. */
const OWN_TIMEOUT_S = 60;

export const facts: StepFacts = {
  defaultTimeoutS: OWN_TIMEOUT_S,
  retries: false,
  documentedTimeoutS: 3_600,
  guide:
    '{model, prompt, instructions?, tools?: [{type: "mcp", instance_id, tools: ["*"|name], approval?: "auto"|"ask"|"deny"}], memory?: {read: ("private"|"project"|"workspace")[]}, limits?: {max_turns?, max_tool_calls?, budget_credits?, timeout_s?}, on_limit?: "answer"|"fail", response_schema?}. A model that calls tools until it answers. Result: {text, object, ended_by, complete}.',
  references: {
    model: 'model',
    instances: [{ list: 'tools', field: 'instance_id' }],
    agents: [{ field: 'agent_id' }, { list: 'tools', entryType: 'agent', field: 'agent_id' }],
    workflows: [{ list: 'tools', entryType: 'workflow', field: 'workflow_ids' }],
  },
  actsForPerson: true,
  feature: 'agents',
};
