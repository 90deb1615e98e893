'use client';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, useEffect, useMemo, useRef } from 'react';
import type { Snapshot } from '@/server/domains/runs/run-state.ts';
import { StepTile } from '../graph/step-icon.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { cx } from '../ui/classes.ts';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { formatDuration, useNow } from '../ui/time.tsx';
import { stepOutcomeLabel } from './outcome.ts';
import type { Steps } from './run-graph.tsx';
import { gapsOf, type SegmentKind, type Span, scaleOf, type TimelineRow, timelineOf } from './timeline-model.ts';
import type { LiveRun } from './use-run.ts';

const ROW_PX = 30;
/** How far a name is moved in, by the depth of its row. */
const insets = ['', 'pl-5 sm:pl-6', 'pl-8 sm:pl-10'];

/** Each kind has a shape of its own beside its colour. */
const looks: Record<SegmentKind, { label: string; className: string }> = {
  queued: { label: 'Queued', className: 'h-1.5 rounded-full border border-line-strong bg-transparent' },
  running: { label: 'Running', className: 'h-4 rounded-sm bg-info animate-pulse-soft' },
  completed: { label: 'Success', className: 'h-4 rounded-sm bg-ok' },
  failed: { label: 'Failed', className: 'h-4 rounded-none bg-bad' },
  cancelled: { label: 'Cancelled', className: 'h-4 rounded-sm border border-line-strong bg-sunken' },
  waiting: { label: 'Waiting for a person', className: 'h-4 rounded-sm border border-dashed border-warn bg-warn-soft' },
  retry: { label: 'Waiting to retry', className: 'h-0 border-t-2 border-dotted border-warn' },
  inside: { label: 'Turns and calls', className: 'h-1 rounded-full bg-line-strong' },
};
const kinds = Object.keys(looks) as SegmentKind[];

type Props = {
  steps: Steps;
  snapshot: Snapshot;
  live: LiveRun;
  selected: string | null;
  onSelect: (step: string) => void;
  folded: boolean;
  onFolded: (folded: boolean) => void;
};

/** When each step of a run was queued, ran, waited and was retried. Only the rows in view are in the DOM. */
export function RunTimeline({ steps, snapshot, live, selected, onSelect, folded, onFolded }: Props) {
  const ended = live.state.endedAt !== null;
  const now = useNow();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is changed in place; `revision` says when
  const timeline = useMemo(
    () => timelineOf(steps, live.state, Date.parse(snapshot.started_at), now),
    [steps, live.state, live.revision, snapshot.started_at, ended ? 0 : now],
  );
  const gaps = useMemo(() => gapsOf(timeline), [timeline]);
  const shownGaps = folded ? gaps : [];
  const place = scaleOf(timeline, shownGaps);
  return (
    <div className="flex h-full min-h-80 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Legend inside={timeline.rows.some(({ depth }) => depth > 0)} />
        {gaps.length > 0 ? (
          <span className="ml-auto">
            <Checkbox label="Fold idle time" checked={folded} onCheckedChange={onFolded} />
          </span>
        ) : null}
      </div>
      <Axis span={timeline} gaps={shownGaps} place={place} />
      <Rows rows={timeline.rows} steps={steps} place={place} gaps={shownGaps} selected={selected} onSelect={onSelect} />
    </div>
  );
}

function Legend({ inside }: { inside: boolean }) {
  const shown = inside ? kinds : kinds.filter(kind => kind !== 'inside');
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
      {shown.map(kind => (
        <li key={kind} className="flex items-center gap-1.5">
          <span aria-hidden className={cx('inline-block w-4', looks[kind].className)} />
          {looks[kind].label}
        </li>
      ))}
    </ul>
  );
}

type Place = (at: number) => number;

/** Where the run began and ended, and how much time each fold hides. */
function Axis({ span, gaps, place }: { span: Span; gaps: readonly Span[]; place: Place }) {
  return (
    <div className="relative ml-28 h-4 text-xs text-muted tabular-nums sm:ml-48">
      <span className="absolute left-0">0</span>
      {gaps.map(gap => (
        <span
          key={gap.from}
          title={`${formatDuration(gap.to - gap.from)} in which no step ran`}
          style={{ left: `${((place(gap.from) + place(gap.to)) / 2) * 100}%` }}
          className="absolute -translate-x-1/2 whitespace-nowrap max-sm:hidden"
        >
          ⋯ {formatDuration(gap.to - gap.from)}
        </span>
      ))}
      <span className="absolute right-0">{formatDuration(span.to - span.from)}</span>
    </div>
  );
}

type RowsProps = {
  rows: readonly TimelineRow[];
  steps: Steps;
  place: Place;
  gaps: readonly Span[];
  selected: string | null;
  onSelect: (step: string) => void;
};

function Rows({ rows, steps, place, gaps, selected, onSelect }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const specs = useMemo(
    () =>
      new Map(
        steps.map(({ id, name, type }) => [id, { name: typeof name === 'string' && name ? name : id, type }] as const),
      ),
    [steps],
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a selection made elsewhere comes into view once
  useEffect(() => {
    const index = rows.findIndex(({ id }) => id === selected);
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' });
  }, [selected]);
  return (
    <ScrollRegion ref={scroller} label="Timeline" className="min-h-0 flex-1 overflow-auto rounded-lg border bg-surface">
      <ol className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row ? (
            <li
              key={row.id}
              style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
              className="absolute inset-x-0 border-b"
            >
              <Row
                row={row}
                name={row.name ?? (row.step.taskName || specs.get(row.id)?.name || row.id)}
                type={row.step.ofAgent?.type ?? specs.get(row.id)?.type ?? ''}
                place={place}
                gaps={gaps}
                selected={row.id === selected}
                onSelect={onSelect}
              />
            </li>
          ) : null;
        })}
      </ol>
    </ScrollRegion>
  );
}

type RowProps = {
  row: TimelineRow;
  name: string;
  type: string;
  place: Place;
  gaps: readonly Span[];
  selected: boolean;
  onSelect: (step: string) => void;
};

/** Drawn again only where something about it has changed: each frame of scrolling draws the list. */
const Row = memo(function Row({ row, name, type, place, gaps, selected, onSelect }: RowProps) {
  return (
    <button
      type="button"
      aria-pressed={selected}
      aria-label={`${name}: ${spoken(row)}`}
      onClick={() => onSelect(row.id)}
      onKeyDown={moveFocus}
      className={cx('flex size-full items-center text-left hover:bg-hover', selected && 'bg-accent-soft')}
    >
      <span className={cx('flex w-28 shrink-0 items-center gap-1.5 px-2 text-xs sm:w-48', insets[row.depth])}>
        <StepTile type={type} size="sm" />
        <span className="truncate">{name}</span>
      </span>
      <span aria-hidden className="relative h-full min-w-0 flex-1">
        {gaps.map(gap => (
          <span
            key={gap.from}
            style={between(place, gap)}
            className="absolute inset-y-0 border-x border-dashed bg-sunken"
          />
        ))}
        {row.segments.map(segment => (
          <span
            key={`${segment.kind} ${segment.from}`}
            title={`${looks[segment.kind].label}: ${formatDuration(segment.to - segment.from)}`}
            style={between(place, segment)}
            className={cx('absolute top-1/2 min-w-0.5 -translate-y-1/2', looks[segment.kind].className)}
          />
        ))}
        {row.segments.length === 0 ? (
          <span className="absolute top-1/2 left-2 -translate-y-1/2 text-xs text-muted">
            {stepOutcomeLabel(row.step)}
          </span>
        ) : null}
      </span>
    </button>
  );
});

/** Returns the place of a span in CSS. A span too short to have a width keeps two pixels, also at the very end. */
const between = (place: Place, { from, to }: Span) => ({
  left: `min(${place(from) * 100}%, calc(100% - 2px))`,
  width: `${(place(to) - place(from)) * 100}%`,
});

/** The row for a screen reader: the outcome, and how long each part took. */
function spoken({ step, segments }: TimelineRow): string {
  const parts = segments.map(({ kind, from, to }) => `${looks[kind].label} ${formatDuration(to - from)}`);
  return [stepOutcomeLabel(step), ...parts].join(', ');
}

/** The arrow keys go from row to row; the rows next to those in view are in the DOM. */
function moveFocus(event: KeyboardEvent<HTMLButtonElement>): void {
  const item = event.currentTarget.closest('li');
  const next =
    event.key === 'ArrowDown'
      ? item?.nextElementSibling
      : event.key === 'ArrowUp'
        ? item?.previousElementSibling
        : null;
  const button = next?.querySelector('button');
  if (!button) return;
  event.preventDefault();
  button.focus();
}
