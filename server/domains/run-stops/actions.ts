import type { RunStatus } from '../../orchestrator/core/index.ts';
import type { CallerLineage } from '../../platform/lineage.ts';
import type { ActsFor } from '../runs/start/step-scopes.ts';

export const BULK_ACTIONS = ['stop', 'rerun', 'continue'] as const;
/** The names of the actions. */
export type BulkAction = (typeof BULK_ACTIONS)[number];

const ACTIVE: readonly RunStatus[] = ['running', 'paused'];
const ENDED: readonly RunStatus[] = ['completed', 'failed', 'stopped'];

/** Returns the statuses of runs to which an action applies. */
export function statusesFor(action: BulkAction): readonly RunStatus[] {
  switch (action) {
    case 'stop':
      return ACTIVE;
    case 'rerun':
      return ENDED;
    case 'continue':
      return ['failed'];
  }
}

/** The requester of a bulk action that starts runs. The rights of the person or token are read again for each pass. */
export type Requester = {
  actsFor: ActsFor;
  surface: 'rest' | 'trpc' | 'mcp';
  /** The lineage of the run that made the request; null if no run did. */
  lineage: CallerLineage | null;
};
