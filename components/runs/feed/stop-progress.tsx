'use client';
import { useQuery } from '@tanstack/react-query';
import { usePermissions } from '../../session/session.tsx';
import { type Outputs, useTRPC } from '../../trpc/provider.tsx';

type Stop = Outputs['runs_list_stops']['stops'][number];

/** The maximum number of shown unfinished bulk stops. */
const MAX_SHOWN = 3;

/** Shows the progress of the workspace's unfinished bulk stops. Renders nothing without any. */
export function StopProgress() {
  const { isAdmin } = usePermissions();
  const trpc = useTRPC();
  const list = useQuery(
    trpc.runs_list_stops.queryOptions(
      { limit: 20 },
      {
        enabled: isAdmin,
        refetchInterval: ({ state }) => (state.data?.stops.some(isWorking) ? 1_000 : 10_000),
      },
    ),
  );
  const working = list.data?.stops.filter(isWorking) ?? [];
  if (working.length === 0) return null;
  return (
    <ul aria-label="Runs that are being stopped" className="mb-4 flex flex-col gap-2 rounded-lg border bg-surface p-3">
      {working.slice(0, MAX_SHOWN).map(stop => (
        <Progress key={stop.stop_id} stop={stop} />
      ))}
      {working.length > MAX_SHOWN ? (
        <li className="text-xs text-muted">{working.length - MAX_SHOWN} more are queued.</li>
      ) : null}
    </ul>
  );
}

const isWorking = ({ state }: Stop) => state === 'working';

function Progress({ stop: { matched, stopped, already_ended, failed, requested_by } }: { stop: Stop }) {
  const done = stopped + already_ended + failed;
  const percent = matched === 0 ? 0 : Math.round((done / matched) * 100);
  const title =
    matched === 0
      ? 'Looking for runs to stop'
      : `Stopping runs: ${done.toLocaleString()} of ${matched.toLocaleString()}`;
  return (
    <li className="flex flex-col gap-1.5">
      <div className="flex flex-wrap justify-between gap-x-4 text-sm">
        <span className="tabular-nums">{title}</span>
        <span className="text-muted">
          {failed > 0 ? `${failed.toLocaleString()} could not be stopped · ` : ''}
          by {requested_by}
        </span>
      </div>
      <div
        role="progressbar"
        aria-label="Stopped runs"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        className="h-1 overflow-hidden rounded-full bg-active"
      >
        <div className="h-full bg-accent transition-[width]" style={{ width: `${percent}%` }} />
      </div>
    </li>
  );
}
