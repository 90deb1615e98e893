'use client';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ListX } from 'lucide-react';
import { useMemo, useRef } from 'react';
import { cx } from '../ui/classes.ts';
import { Checkbox } from '../ui/field.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Select } from '../ui/select.tsx';
import { EmptyState } from '../ui/states.tsx';
import { formatUtc } from '../ui/time.tsx';
import type { WireEvent } from './run-view.ts';

const rowHeight = 36;

type Props = {
  events: readonly WireEvent[];
  /** Counts the changes of `events`, which grows in place. */
  revision: number;
  stepIds: readonly string[];
  step: string;
  failuresOnly: boolean;
  onFilter: (filter: { step?: string; failuresOnly?: boolean }) => void;
  onSelect: (step: string) => void;
};

/** The event log of a run: only the rows in view are in the DOM, so that 10,000 events scroll like 10. */
export function EventList({ events, revision, stepIds, step, failuresOnly, onFilter, onSelect }: Props) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `events` grows in place; `revision` says when
  const shown = useMemo(
    () => events.filter(event => (step === '' || event.step_id === step) && (!failuresOnly || isFailure(event))),
    [events, revision, step, failuresOnly],
  );
  return (
    <div className="flex h-full min-h-80 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <Select
          label="Step"
          size="sm"
          className="w-48"
          value={step}
          onChange={next => onFilter({ step: next })}
          options={[{ value: '', label: 'All steps' }, ...stepIds.map(id => ({ value: id, label: id }))]}
        />
        <Checkbox label="Failures only" checked={failuresOnly} onCheckedChange={on => onFilter({ failuresOnly: on })} />
        <span className="ml-auto text-xs text-muted tabular-nums">
          {shown.length === events.length ? `${events.length} events` : `${shown.length} of ${events.length} events`}
        </span>
      </div>
      {shown.length === 0 ? (
        <div className="rounded-lg border bg-surface">
          <EmptyState icon={ListX} title="No events to show">
            {events.length === 0
              ? 'The first ones appear here as soon as the run has any.'
              : 'None match these filters.'}
          </EmptyState>
        </div>
      ) : (
        <Rows events={shown} onSelect={onSelect} />
      )}
    </div>
  );
}

function Rows({ events, onSelect }: { events: readonly WireEvent[]; onSelect: (step: string) => void }) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    getItemKey: index => events[index]?.seq ?? index,
  });
  return (
    <ScrollRegion ref={scroller} label="Events" className="min-h-0 flex-1 overflow-auto rounded-lg border bg-surface">
      <ol className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(row => {
          const event = events[row.index];
          return event ? <Row key={row.key} event={event} top={row.start} onSelect={onSelect} /> : null;
        })}
      </ol>
    </ScrollRegion>
  );
}

function Row({ event, top, onSelect }: { event: WireEvent; top: number; onSelect: (step: string) => void }) {
  const step = event.step_id;
  return (
    <li
      style={{ transform: `translateY(${top}px)`, height: rowHeight }}
      className="absolute inset-x-0 flex items-center gap-3 border-b px-3 text-xs whitespace-nowrap"
    >
      <span className="w-10 shrink-0 text-right text-faint tabular-nums">{event.seq}</span>
      <time dateTime={event.created_at} title={formatUtc(event.created_at)} className="shrink-0 font-mono text-muted">
        {event.created_at.slice(11, 23)}
      </time>
      <span className={cx('w-32 shrink-0 font-mono', isFailure(event) ? 'text-bad' : 'text-text')}>
        {event.event_type}
      </span>
      {step === undefined ? (
        <span className="w-36 shrink-0" />
      ) : (
        <button
          type="button"
          onClick={() => onSelect(step)}
          className="w-36 shrink-0 truncate rounded-sm text-left text-accent-text hover:underline"
        >
          {step}
        </button>
      )}
      <span className="truncate text-muted">{inWords(event)}</span>
    </li>
  );
}

const isFailure = (event: WireEvent) =>
  event.event_type === 'step_failed' || event.event_type === 'step_retrying' || event.event_type === 'run_rejected';

/** The event in a few words: what changed, or the beginning of its data. */
function inWords(event: WireEvent): string {
  const data = event.data;
  const error = data.error as { message?: string } | undefined;
  switch (event.event_type) {
    case 'state_changed':
      return `${String(data.from)} → ${String(data.to)}${reasonOf(data, error?.message)}`;
    case 'step_completed':
      return data.skipped === true ? `skipped: ${String(data.reason)}` : preview(data.result ?? data.result_ref);
    case 'step_failed':
      return error?.message ?? '';
    case 'step_retrying':
      return `${error?.message ?? ''} — again in ${Math.round(Number(data.delay_ms) / 100) / 10} s`;
    case 'step_started':
      return event.attempt !== undefined && event.attempt > 1 ? `attempt ${event.attempt}` : '';
    case 'step_log':
      return Array.isArray(data.lines) ? data.lines.join(' ⏎ ') : '';
    default:
      return preview(data);
  }
}

/** The error's message, or the code of the engine's reason. */
function reasonOf(data: WireEvent['data'], message: string | undefined): string {
  const reason = message ?? (typeof data.reason === 'string' ? data.reason.replaceAll('_', ' ') : '');
  return reason ? `: ${reason}` : '';
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
