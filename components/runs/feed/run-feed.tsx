'use client';
import dynamic from 'next/dynamic';
import { Page, PageHeader } from '../../ui/page.tsx';
import { RunFilters } from './run-filters.tsx';
import { type FirstRuns, RunTable } from './run-table.tsx';
import { StopRunsButton } from './stop-runs.tsx';

// Loaded after the list, because jobs are rare.
const BulkProgress = dynamic(() => import('./bulk-progress.tsx').then(module => module.BulkProgress), { ssr: false });
const StopProgress = dynamic(() => import('./stop-progress.tsx').then(module => module.StopProgress), { ssr: false });

/** Lists the runs of the tenant, newest first, with live updates. */
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
