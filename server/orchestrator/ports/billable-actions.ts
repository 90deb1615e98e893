import type { Consumption } from '../core/index.ts';

type ActionDescription = {
  /** Its name in the console. */
  label: string;
  /** The singular of its unit, in a price list. */
  unit: string;
  /** The heading of its prices in the operator's list of plans. */
  heading: string;
  /** The dimension of usage that further distinguishes what was used; null if only the step does. */
  subject: 'tool' | 'model' | null;
};

/** All actions that can be charged for. Lists in answers and in the console have this order. */
export const ACTIONS = {
  workflow_step: { label: 'Workflow steps', unit: 'step attempt', heading: 'step', subject: null },
  tool_call: { label: 'Tool calls', unit: 'tool call', heading: 'tool call', subject: 'tool' },
  llm_input_tokens: { label: 'LLM input tokens', unit: 'token', heading: 'input token', subject: 'model' },
  llm_output_tokens: { label: 'LLM output tokens', unit: 'token', heading: 'output token', subject: 'model' },
} as const satisfies Record<'workflow_step' | Consumption['action'], ActionDescription>;

export type BillableAction = keyof typeof ACTIONS;
export const BILLABLE_ACTIONS = Object.keys(ACTIONS) as readonly BillableAction[];

/** Returns a value for each action, in their order. */
export const perAction = <T>(make: (action: BillableAction) => T): Record<BillableAction, T> =>
  Object.fromEntries(BILLABLE_ACTIONS.map(action => [action, make(action)])) as Record<BillableAction, T>;

/** Returns the actions whose usage has the dimension. */
export const actionsOfSubject = (subject: 'tool' | 'model'): readonly BillableAction[] =>
  BILLABLE_ACTIONS.filter(action => ACTIONS[action].subject === subject);

/** The price of each action, in microcredits; 0: it is free. */
export type ActionPrices = Readonly<Record<BillableAction, number>>;
