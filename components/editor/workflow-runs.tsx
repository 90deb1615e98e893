'use client';
import { BulkProgress } from '../run-feed/bulk-progress.tsx';
import { RunFilters } from '../run-feed/run-filters.tsx';
import { RunTable } from '../run-feed/run-table.tsx';

/** The runs of a workflow, with the filters, columns and search of the list of all runs. */
export function WorkflowRuns({ workflowId }: { workflowId: string }) {
  return (
    <>
      <BulkProgress />
      <RunFilters workflowId={workflowId} />
      <RunTable workflowId={workflowId} />
    </>
  );
}
