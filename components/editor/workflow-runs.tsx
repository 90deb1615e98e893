'use client';
import { BulkProgress } from '../run-feed/bulk-progress.tsx';
import { RunKindSelect } from '../run-feed/run-filters.tsx';
import { RunTable } from '../run-feed/run-table.tsx';

/** The runs of a workflow, all of them or those of one kind. */
export function WorkflowRuns({ workflowId }: { workflowId: string }) {
  return (
    <>
      <div className="mb-3">
        <RunKindSelect />
      </div>
      <BulkProgress />
      <RunTable workflowId={workflowId} />
    </>
  );
}
