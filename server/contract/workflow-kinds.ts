/**
 * What a workflow is. People edit those of the kind `workflow`; each other kind belongs to a part of the service that manages them,
 * and lists, feeds and analytics show them only where a caller names the kind.
 */
export const WORKFLOW_KINDS = ['workflow', 'agent', 'autopilot', 'trial', 'extraction'] as const;
export type WorkflowKind = (typeof WORKFLOW_KINDS)[number];

/** The kind that is meant where none is named. */
export const DEFAULT_KIND: WorkflowKind = 'workflow';
