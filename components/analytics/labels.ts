const actions: Record<string, string> = {
  workflow_step: 'Workflow steps',
  tool_call: 'Tool calls',
  llm_input_tokens: 'LLM tokens in',
  llm_output_tokens: 'LLM tokens out',
};

/** What is charged, in words; an action of a newer plan by its own name. */
export const actionLabel = (action: string): string => actions[action] ?? action;

/** A deleted workflow keeps its numbers and has no name any more. */
export const workflowLabel = (name: string | null): string => name ?? 'Deleted workflow';
