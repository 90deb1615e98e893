import { ACTIONS } from '@/server/orchestrator/ports/billable-actions.ts';

const descriptions: Readonly<Record<string, { label: string }>> = ACTIONS;

/** Returns the label of a billable action; an unknown action is shown by its own name. */
export const actionLabel = (action: string): string => descriptions[action]?.label ?? action;

/** Returns the label of a workflow. The numbers of a deleted workflow are kept, but its name is not. */
export const workflowLabel = (name: string | null): string => name ?? 'Deleted workflow';
