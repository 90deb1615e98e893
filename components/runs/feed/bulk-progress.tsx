'use client';
import { useQuery } from '@tanstack/react-query';
import { usePermissions } from '../../session/session.tsx';
import { useTRPC } from '../../trpc/provider.tsx';
import { useNow } from '../../ui/time.tsx';
import { type BulkJob, bulkWords, progressInWords } from './bulk-words.ts';

/** How long an ended job is shown. */
const SHOWN_MS = 60_000;
const MAX_SHOWN = 3;

/** Shows the progress of the project's bulk actions, and their outcome for a minute. Renders nothing without bulk actions. */
export function BulkProgress() {
  const { canWrite } = usePermissions();
  const trpc = useTRPC();
  const now = useNow();
  const list = useQuery(
    trpc.runs_list_bulk.queryOptions(
      { limit: 20 },
      {
        enabled: canWrite,
        refetchInterval: ({ state }) => (state.data?.jobs.some(job => job.state === 'working') ? 1_000 : 10_000),
      },
    ),
  );
  const shown = (list.data?.jobs ?? []).filter(
    job => job.finished_at === null || now - Date.parse(job.finished_at) < SHOWN_MS,
  );
  if (shown.length === 0) return null;
  return (
    <ul aria-label="Bulk actions" className="mb-4 flex flex-col gap-2 rounded-lg border bg-surface p-3">
      {shown.slice(0, MAX_SHOWN).map(job => (
        <Line key={job.job_id} job={job} />
      ))}
      {shown.length > MAX_SHOWN ? (
        <li className="text-xs text-muted">{shown.length - MAX_SHOWN} more are queued.</li>
      ) : null}
    </ul>
  );
}

function Line({ job }: { job: BulkJob }) {
  const { matched, done, passed, failed, first_error, requested_by, action, state } = job;
  const percent = matched === 0 ? 0 : Math.round(((done + passed + failed) / matched) * 100);
  return (
    <li className="flex flex-col gap-1.5">
      <div className="flex flex-wrap justify-between gap-x-4 text-sm">
        <span className="tabular-nums">{progressInWords(job)}</span>
        <span className="text-muted">by {requested_by}</span>
      </div>
      {failed > 0 ? (
        <p className="text-xs wrap-anywhere text-bad">
          {failed.toLocaleString('en')} {bulkWords[action].failed}
          {first_error === null ? '' : `: ${first_error}`}
        </p>
      ) : null}
      {state === 'finished' ? null : (
        <div
          role="progressbar"
          aria-label={bulkWords[action].doing}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={percent}
          className="h-1 overflow-hidden rounded-full bg-active"
        >
          <div
            className="h-full bg-accent transition-[width] motion-reduce:transition-none"
            style={{ width: `${percent}%` }}
          />
        </div>
      )}
    </li>
  );
}
