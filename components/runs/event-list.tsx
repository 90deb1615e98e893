'use client';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronRight, ListX } from 'lucide-react';
import { memo, useEffect, useMemo, useRef, useState } from 'react';
import type { Snapshot, WireEvent } from '@/server/domains/runs/reading/run-state.ts';
import type { Json } from '@/server/platform/json.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { Checkbox } from '../ui/checkbox.tsx';
import { cx } from '../ui/classes.ts';
import { JsonTree, type NameOf } from '../ui/json-tree.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { SearchSelect } from '../ui/search-select.tsx';
import { Select } from '../ui/select.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { formatLocal, formatLocalClock } from '../ui/time.tsx';
import { CompactEvents } from './compact-events.tsx';
import { eventInWords } from './event-text.ts';
import { EventsDownload } from './events-download.tsx';
import { StepName, stepNames } from './step-names.tsx';
import { useEventNames } from './use-event-names.ts';
import { type EventSource, isFailure, samePages, useAllEvents, useFilteredEvents } from './use-events.ts';
import type { LiveRun } from './use-run.ts';

const ROW_PX = 36;
/**
 * The height of an opened row, in which the event's data scrolls. It is fixed, so that the height of every row is
 * known.
 */
const OPEN_ROW_PX = 296;
const MAX_MENU_STEPS = 100;
/** Steps whose events name other workflows. */
const CALLING: ReadonlySet<string> = new Set(['call_workflow', 'for_each', 'agent']);

/** The form of the list (sentences or full events) and its filters. `open`: the number of the opened event, or 0. */
export type EventView = { compact: boolean; step: string; failuresOnly: boolean; q: string; open: number };

type Props = {
  snapshot: Snapshot;
  steps: readonly GraphStepInput[];
  workflowId: string;
  runId: string;
  live: LiveRun;
  stepIds: readonly string[];
  /** The step that the page has selected: its events are marked. */
  selected: string | null;
  view: EventView;
  onView: (view: Partial<EventView>) => void;
  onSelect: (step: string) => void;
};

/**
 * The event log of a run. Only the rows in view are in the DOM, and only the pages in view are loaded, so that 20,000 events open
 * like 20.
 */
export function EventList(props: Props) {
  const { view, live, stepIds, onView, snapshot, steps, selected, onSelect } = props;
  const filtered = view.step !== '' || view.failuresOnly || view.q !== '';
  return (
    <div className="flex h-full min-h-80 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <SearchInput label="Search events" value={view.q} onChange={q => onView({ q })} />
        <StepFilter
          value={view.step}
          stepIds={stepIds}
          stepNameOf={stepNames(steps)}
          onChange={step => onView({ step })}
        />
        <Checkbox
          label="Failures only"
          checked={view.failuresOnly}
          onCheckedChange={failuresOnly => onView({ failuresOnly })}
        />
        <Checkbox label="Compact" checked={view.compact} onCheckedChange={compact => onView({ compact })} />
        <span className="ml-auto flex items-center gap-3">
          {filtered ? null : (
            <span className="text-xs text-muted tabular-nums">{live.state.lastSeq.toLocaleString()} events</span>
          )}
          <EventsDownload workflowId={props.workflowId} runId={props.runId} count={live.state.lastSeq} />
        </span>
      </div>
      {view.compact ? (
        <CompactEvents
          snapshot={snapshot}
          steps={steps}
          live={live}
          selected={selected}
          filter={view}
          onSelect={onSelect}
        />
      ) : filtered ? (
        <FilteredEvents key={`${view.step} ${view.failuresOnly} ${view.q}`} {...props} />
      ) : (
        <AllEvents {...props} />
      )}
    </div>
  );
}

type StepFilterProps = {
  value: string;
  stepIds: readonly string[];
  stepNameOf: (id: string) => string;
  onChange: (step: string) => void;
};

function StepFilter({ value, stepIds, stepNameOf, onChange }: StepFilterProps) {
  const options = [{ value: '', label: 'All steps' }, ...stepIds.map(id => ({ value: id, label: stepNameOf(id) }))];
  const shared = { label: 'Step', size: 'sm', className: 'w-48', value, onChange, options } as const;
  // Radix keeps every option in memory as an element, which takes 300 ms for 2,000 of them.
  return stepIds.length > MAX_MENU_STEPS ? <SearchSelect {...shared} /> : <Select {...shared} />;
}

function AllEvents(props: Props) {
  const [range, setRange] = useState<readonly [number, number]>(() => [
    Math.max(0, props.live.state.lastSeq - 30),
    props.live.state.lastSeq,
  ]);
  const source = useAllEvents(props, props.live, range);
  const onRange = (next: readonly [number, number]) => setRange(before => (samePages(before, next) ? before : next));
  return <Listed {...props} source={source} fromEnd onRange={onRange} />;
}

function FilteredEvents(props: Props) {
  const source = useFilteredEvents(props, props.live, props.view);
  return (
    <>
      <p className="text-xs text-muted tabular-nums">
        {source.count}
        {source.more ? '+' : ''} of {props.live.state.lastSeq} events
      </p>
      <Listed {...props} source={source} />
    </>
  );
}

type ListedProps = Props & {
  source: EventSource;
  /** Opens the list at its last event and stays there while events arrive. */
  fromEnd?: boolean;
  onRange?: (range: readonly [number, number]) => void;
};

function Listed(props: ListedProps) {
  const { source } = props;
  if (source.error) return <ErrorState error={source.error} onRetry={source.retry} />;
  if (source.pending) return <Skeleton className="h-80 w-full" />;
  if (source.count > 0) return <Rows {...props} />;
  return (
    <div className="rounded-lg border bg-surface">
      <EmptyState icon={ListX} title="No events to show">
        {props.fromEnd ? 'Events appear here as they happen.' : 'No event matches these filters.'}
      </EmptyState>
    </div>
  );
}

function Rows({ source, steps, fromEnd = false, onRange, view, onView, selected, onSelect }: ListedProps) {
  const stepNameOf = useMemo(() => stepNames(steps), [steps]);
  const nameOf = useEventNames(stepNameOf, view.open > 0 || steps.some(({ type }) => CALLING.has(type)));
  const scroller = useRef<HTMLDivElement>(null);
  const { count } = source;
  const openAt = indexOf(source, view.open, fromEnd);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: index => (index === openAt ? OPEN_ROW_PX : ROW_PX),
    overscan: 12,
    initialOffset: fromEnd && openAt < 0 ? count * ROW_PX : Math.max(0, openAt - 3) * ROW_PX,
    onChange: instance => {
      const { range } = instance;
      if (range) onRange?.([range.startIndex, range.endIndex]);
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height of the opened row has changed
  useEffect(() => rows.measure(), [openAt]);
  useStayAtEnd(scroller, count, fromEnd && openAt < 0);
  const shown = rows.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  const { more, loadMore } = source;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `loadMore` is a new function each time
  useEffect(() => {
    if (more && lastShown >= count - 1) loadMore();
  }, [more, lastShown, count]);
  return (
    <ScrollRegion ref={scroller} label="Events" className="min-h-0 flex-1 overflow-auto rounded-lg border bg-surface">
      <ol className="relative sm:min-w-140" style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, start, size }) => {
          const event = source.at(index);
          return (
            <li
              key={index}
              style={{ transform: `translateY(${start}px)`, height: size }}
              className="absolute inset-x-0 flex flex-col border-b"
            >
              {event ? (
                <Row
                  event={event}
                  name={event.step_id === undefined ? '' : stepNameOf(event.step_id)}
                  nameOf={nameOf}
                  open={event.seq === view.open}
                  marked={selected !== null && event.step_id === selected}
                  onView={onView}
                  onSelect={onSelect}
                />
              ) : (
                <Skeleton className="mx-3 my-2.5 h-4" />
              )}
            </li>
          );
        })}
      </ol>
    </ScrollRegion>
  );
}

/** Returns the index of an event; -1 if the event is not in the list. */
function indexOf(source: EventSource, seq: number, hasAllEvents: boolean): number {
  if (seq <= 0) return -1;
  if (hasAllEvents) return seq <= source.count ? seq - 1 : -1;
  for (let index = 0; index < source.count; index += 1) if (source.at(index)?.seq === seq) return index;
  return -1;
}

/** Keeps the last event in view while more arrive, unless the reader has scrolled away from it. */
function useStayAtEnd(scroller: { current: HTMLDivElement | null }, count: number, enabled: boolean): void {
  const shown = useRef(count);
  useEffect(() => {
    const element = scroller.current;
    const before = shown.current;
    shown.current = count;
    if (!enabled || !element || before === count) return;
    const wasAtEnd = element.scrollTop + element.clientHeight >= before * ROW_PX - ROW_PX;
    if (wasAtEnd) element.scrollTop = count * ROW_PX;
  }, [scroller, count, enabled]);
}

/** The width of ".250" in characters; phones have no room for milliseconds. */
const MILLISECONDS = 4;

type RowProps = {
  event: WireEvent;
  /** The name of the event's step, or the id of a step without a name. */
  name: string;
  /** Names the things in its data. */
  nameOf: NameOf;
  open: boolean;
  marked: boolean;
  onView: Props['onView'];
  onSelect: (step: string) => void;
};

/** A row of the list. Memoized, because each frame of scrolling draws the list. */
const Row = memo(function Row({ event, name, nameOf, open, marked, onView, onSelect }: RowProps) {
  const step = event.step_id;
  const clock = formatLocalClock(event.created_at);
  return (
    <>
      <div
        className={cx(
          'flex h-[35px] shrink-0 items-center gap-2 px-3 text-xs whitespace-nowrap sm:gap-3',
          marked && 'bg-accent-soft',
        )}
      >
        <button
          type="button"
          aria-expanded={open}
          aria-label={`Data of event ${event.seq}`}
          onClick={() => onView({ open: open ? 0 : event.seq })}
          className="flex min-h-6 w-14 shrink-0 items-center gap-1 rounded-sm text-muted tabular-nums hover:bg-hover"
        >
          <ChevronRight aria-hidden className={cx('size-3 shrink-0', open && 'rotate-90')} />
          {event.seq}
        </button>
        <time
          dateTime={event.created_at}
          title={formatLocal(event.created_at)}
          className="shrink-0 font-mono text-muted"
        >
          {clock.slice(0, -MILLISECONDS)}
          <span className="hidden sm:inline">{clock.slice(-MILLISECONDS)}</span>
        </time>
        <span className={cx('w-28 shrink-0 truncate font-mono sm:w-32', isFailure(event) ? 'text-bad' : 'text-text')}>
          {event.event_type}
        </span>
        {step === undefined ? (
          <span className="hidden w-36 shrink-0 sm:block" />
        ) : (
          <button
            type="button"
            onClick={() => onSelect(step)}
            className="min-h-6 min-w-0 flex-1 truncate rounded-sm sm:w-36 sm:flex-none text-left text-accent-text hover:underline"
          >
            <StepName id={step} name={name} />
          </button>
        )}
        {/* Phones have no room for it; the event's data says the same. */}
        <span className="hidden truncate text-muted sm:block">{eventInWords(event, nameOf)}</span>
      </div>
      {open ? (
        <div className="min-h-0 flex-1 overflow-hidden px-3 pb-2">
          <JsonTree label={`Event ${event.seq}`} value={event.data as Json} nameOf={nameOf} className="h-full" />
        </div>
      ) : null}
    </>
  );
});
