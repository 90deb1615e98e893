/**
 * The kinds of workflows, by their purpose. People edit those of the kind `workflow`. Each other kind belongs to a part
 * of the service that manages its workflows; lists, feeds and analytics show them only if the caller names the kind.
 */
export const WORKFLOW_KINDS = ['workflow', 'agent', 'autopilot', 'trial', 'extraction'] as const;
export type WorkflowKind = (typeof WORKFLOW_KINDS)[number];

/** The kind that applies if none is named. */
export const DEFAULT_KIND: WorkflowKind = 'workflow';
