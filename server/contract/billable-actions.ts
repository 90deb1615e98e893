/** What can be charged for: the one list. Its order is the order of columns and of lists in the console. */
export const BILLABLE_ACTIONS = ['workflow_step', 'tool_call', 'llm_input_tokens', 'llm_output_tokens'] as const;
export type BillableAction = (typeof BILLABLE_ACTIONS)[number];

/** Microcredits for one of each action; 0: it costs nothing. */
export type ActionPrices = Readonly<Record<BillableAction, number>>;
