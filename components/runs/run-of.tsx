import { formatLocalMinute, RelativeTime } from '../ui/time.tsx';

/** Returns the creation time of a run from its UUIDv7; null for any other id. */
export function createdAt(id: string): string | null {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/.exec(id) ?? [];
  return high === undefined || low === undefined ? null : new Date(Number.parseInt(high + low, 16)).toISOString();
}

/** Returns the name of a run among those of the same workflow: its time. */
export function runOf(id: string): string {
  const at = createdAt(id);
  return at === null ? `Run ${id.slice(0, 8)}` : `Run of ${formatLocalMinute(at)}`;
}

/** The name of another run of the same workflow: its time. */
export function RunOf({ id }: { id: string }) {
  const at = createdAt(id);
  return (
    <span title={id}>
      {at === null ? (
        `Run ${id.slice(0, 8)}`
      ) : (
        <>
          Run, <RelativeTime at={at} className="whitespace-nowrap tabular-nums" />
        </>
      )}
    </span>
  );
}
