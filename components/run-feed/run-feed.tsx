'use client';
import { Page, PageHeader } from '../ui/page.tsx';
import { BulkProgress } from './bulk-progress.tsx';
import { RunFilters } from './run-filters.tsx';
import { type FirstRuns, RunTable } from './run-table.tsx';
import { StopProgress, StopRunsButton } from './stop-runs.tsx';

/** Every run of the tenant, newest first, live. */
export function RunFeed({ first }: { first: FirstRuns }) {
  return (
    <Page>
      <PageHeader title="Runs" actions={<StopRunsButton />} />
      <StopProgress />
      <BulkProgress />
      <RunFilters />
      <RunTable first={first} />
    </Page>
  );
}
