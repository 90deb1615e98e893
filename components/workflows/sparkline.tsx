import { statusLook } from '../ui/status-badge.tsx';

const SLOTS = 20;
const fills: Record<string, string> = {
  completed: 'fill-ok',
  failed: 'fill-bad',
  running: 'fill-info',
  paused: 'fill-warn',
  stopped: 'fill-faint',
};
// The heights distinguish statuses without color: a failure is a full bar, a stop a short one.
const heights: Record<string, number> = { completed: 10, failed: 16, running: 13, paused: 13, stopped: 6 };

/** The outcomes of the last 20 runs, oldest on the left; for screen readers, the number of runs per status. */
export function Sparkline({ runs }: { runs: readonly { run_id: string; status: string }[] }) {
  if (runs.length === 0) return <span className="text-xs text-faint">No runs yet</span>;
  const counts = new Map<string, number>();
  for (const run of runs) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  const label = [...counts].map(([status, n]) => `${n} ${statusLook('run', status).label.toLowerCase()}`).join(', ');
  return (
    <svg
      role="img"
      aria-label={`Last ${runs.length} runs: ${label}`}
      viewBox={`0 0 ${SLOTS * 5} 16`}
      className="h-4 w-25"
    >
      <title>{label}</title>
      {Array.from({ length: SLOTS - runs.length }, (_, slot) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: empty places without identity
        <rect key={slot} x={slot * 5} y={14} width={3} height={2} rx={1} className="fill-active" />
      ))}
      {[...runs].reverse().map((run, index) => {
        const height = heights[run.status] ?? 10;
        const x = (SLOTS - runs.length + index) * 5;
        return (
          <rect
            key={run.run_id}
            x={x}
            y={16 - height}
            width={3}
            height={height}
            rx={1}
            className={fills[run.status] ?? 'fill-muted'}
          />
        );
      })}
    </svg>
  );
}
