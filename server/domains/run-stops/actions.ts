import type { RunStatus } from '../../orchestrator/core/index.ts';
import type { CallerLineage } from '../../platform/lineage.ts';
import type { ActsFor } from '../runs/start/step-scopes.ts';

export const BULK_ACTIONS = ['stop', 'rerun', 'continue'] as const;
/** The names of the actions. */
export type BulkAction = (typeof BULK_ACTIONS)[number];

const ACTIVE: readonly RunStatus[] = ['running', 'paused'];
const ENDED: readonly RunStatus[] = ['completed', 'failed', 'stopped'];

/** Returns the statuses of the runs that an action is for. */
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

/** The requester of a bulk action that starts runs. What the person or token may do is read again for every turn. */
export type Requester = {
  actsFor: ActsFor;
  surface: 'rest' | 'trpc' | 'mcp';
  /** Where the run stands that requested it; null for a request of no run. */
  lineage: CallerLineage | null;
};
