import { ACTIONS } from '@/server/orchestrator/ports/billable-actions.ts';

const descriptions: Readonly<Record<string, { label: string }>> = ACTIONS;

/** The label of a billable action; an action of a newer plan has its own name. */
export const actionLabel = (action: string): string => descriptions[action]?.label ?? action;

/** A deleted workflow keeps its numbers and has no name any more. */
export const workflowLabel = (name: string | null): string => name ?? 'Deleted workflow';
