'use client';
import { BulkProgress } from '../runs/feed/bulk-progress.tsx';
import { RunFilters } from '../runs/feed/run-filters.tsx';
import { RunTable } from '../runs/feed/run-table.tsx';

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
