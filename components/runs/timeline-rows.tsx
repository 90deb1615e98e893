import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronRight } from 'lucide-react';
import { type KeyboardEvent, memo, useEffect, useMemo, useRef } from 'react';
import { StepTile } from '../graph/step-icon.tsx';
import { cx } from '../ui/classes.ts';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { formatDuration } from '../ui/time.tsx';
import { rowOf, type UnfoldedLoop } from './item-windows.ts';
import { stepOutcomeLabel } from './outcome.ts';
import type { Steps } from './run-graph.tsx';
import { TimelineItems } from './timeline-items.tsx';
import { rowInWords, segmentLooks, workOf } from './timeline-looks.ts';
import type { Span, TimelineRow } from './timeline-model.ts';
import { labelPlace, type Place } from './timeline-scale.ts';
import type { ShownRow } from './use-unfolded-loops.ts';

const ROW_PX = 30;
/** The indentation of a name, by the depth of its row. */
const insets = ['pl-2', 'pl-5 sm:pl-6', 'pl-8 sm:pl-10', 'pl-10 sm:pl-14', 'pl-12 sm:pl-18'];

/** The rows and their scale. */
type Shown = { rows: readonly ShownRow[]; place: Place; gaps: readonly Span[]; width: number };

type Props = {
  shown: Shown;
  steps: Steps;
  selected: string | null;
  onSelect: (step: string) => void;
  unfolded: readonly UnfoldedLoop[];
  onUnfolded: (loops: readonly UnfoldedLoop[]) => void;
  /** Called when a key is pressed on a row. */
  onKey: (event: KeyboardEvent) => void;
};

/** The rows of a timeline. Only those in view are in the DOM. */
export function TimelineRows(props: Props) {
  const { shown, selected, onKey } = props;
  const { rows } = shown;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const specs = useMemo(
    () =>
      new Map(
        props.steps.map(
          ({ id, name, type }) => [id, { name: typeof name === 'string' && name ? name : id, type }] as const,
        ),
      ),
    [props.steps],
  );
  const pressed = useMemo(() => rowOf(rows, selected), [rows, selected]);
  // A new selection is scrolled into view only once, so that the user can scroll away.
  const seen = useRef<string | null>(null);
  useEffect(() => {
    if (pressed === seen.current) return;
    seen.current = pressed;
    const index = rows.findIndex(({ id }) => id === pressed);
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' });
  }, [rows, pressed, virtual]);
  return (
    <ScrollRegion
      ref={scroller}
      label="Timeline"
      onKeyDown={onKey}
      className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto rounded-lg border bg-surface"
    >
      <ol className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row ? (
            <li
              key={row.id}
              style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
              className="absolute inset-x-0 border-b"
            >
              <RowContent {...props} row={row} pressed={pressed} specs={specs} />
            </li>
          ) : null;
        })}
      </ol>
    </ScrollRegion>
  );
}

type ContentProps = Props & {
  row: ShownRow;
  specs: ReadonlyMap<string, { name: string; type: string }>;
  /** The row of the selected step. */
  pressed: string | null;
};

function RowContent(props: ContentProps) {
  const { row, pressed, specs, shown, selected, onSelect, unfolded, onUnfolded } = props;
  const showFrom = (id: string, from: number) =>
    onUnfolded(unfolded.map(loop => (loop.id === id ? { id, from } : loop)));
  if ('items' in row) {
    const { loop } = row.items;
    return (
      <TimelineItems
        window={row.items}
        selected={selected}
        onFrom={from => showFrom(loop, from)}
        onItem={item => onSelect(`${loop}.${item}`)}
      />
    );
  }
  const isOpen = unfolded.some(({ id }) => id === row.id);
  const toggle = () =>
    onUnfolded(isOpen ? unfolded.filter(({ id }) => id !== row.id) : [...unfolded, { id: row.id, from: 0 }]);
  return (
    <>
      <Row
        row={row}
        name={row.name ?? (row.step.taskName || specs.get(row.id)?.name || row.id)}
        type={row.step.ofAgent?.type ?? specs.get(row.id)?.type}
        place={shown.place}
        gaps={shown.gaps}
        width={shown.width}
        selected={row.id === pressed}
        onSelect={onSelect}
      />
      {row.isLoop ? <Unfold name={row.name ?? row.id} isOpen={isOpen} onToggle={toggle} /> : null}
    </>
  );
}

function Unfold({ name, isOpen, onToggle }: { name: string; isOpen: boolean; onToggle: () => void }) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-label={`Items of ${name}`}
      title={isOpen ? 'Hide the items' : 'Show the items'}
      onClick={onToggle}
      className="absolute top-0.5 left-22 flex size-6 items-center justify-center rounded-sm text-muted hover:bg-hover sm:left-41"
    >
      <ChevronRight
        aria-hidden
        className={cx('size-3.5 transition-transform motion-reduce:transition-none', isOpen && 'rotate-90')}
      />
    </button>
  );
}

type RowProps = Omit<Shown, 'rows'> & {
  row: TimelineRow;
  name: string;
  /** Undefined for a row that is not a step of the version, such as an item of a loop. */
  type: string | undefined;
  selected: boolean;
  onSelect: (step: string) => void;
};

/** A row of the timeline. Memoized, because each frame of scrolling draws the list. */
const Row = memo(function Row({ row, name, type, place, gaps, width, selected, onSelect }: RowProps) {
  return (
    <button
      type="button"
      data-row
      aria-pressed={selected}
      aria-label={`${name}: ${rowInWords(row)}`}
      onClick={() => onSelect(row.id)}
      onKeyDown={moveFocus}
      className={cx('flex size-full items-center text-left hover:bg-hover', selected && 'bg-accent-soft')}
    >
      <span
        className={cx(
          'flex w-28 shrink-0 items-center gap-1.5 text-xs sm:w-48',
          insets[row.depth] ?? insets.at(-1),
          row.isLoop ? 'pr-8' : 'pr-2',
        )}
      >
        {type === undefined ? null : <StepTile type={type} size="sm" />}
        <span className="truncate">{name}</span>
      </span>
      <span aria-hidden className="relative h-full min-w-0 flex-1 overflow-hidden">
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
            title={`${segmentLooks[segment.kind].label}: ${formatDuration(segment.to - segment.from)}`}
            style={between(place, segment)}
            className={cx('absolute top-1/2 min-w-0.5 -translate-y-1/2', segmentLooks[segment.kind].className)}
          />
        ))}
        {row.segments.length === 0 ? (
          <span className="absolute top-1/2 left-2 -translate-y-1/2 text-xs text-muted">
            {stepOutcomeLabel(row.step)}
          </span>
        ) : (
          <BarLabel row={row} place={place} width={width} />
        )}
      </span>
    </button>
  );
});

/** Shows the duration of a step after, before or on its bar. Renders nothing for a bar that is out of view. */
function BarLabel({ row, place, width }: { row: TimelineRow; place: Place; width: number }) {
  const work = workOf(row);
  if (work === null || width === 0) return null;
  const bar = { from: Math.max(0, place(work.from)), to: Math.min(1, place(work.to)) };
  if (bar.to < 0 || bar.from > 1) return null;
  const text = formatDuration(work.to - work.from);
  const look = 'absolute top-1/2 -translate-y-1/2 text-xs whitespace-nowrap tabular-nums';
  switch (labelPlace(bar, text, width)) {
    case 'after':
      return (
        <span style={{ left: bar.to * width + 6 }} className={cx(look, 'text-muted')}>
          {text}
        </span>
      );
    case 'before':
      return (
        <span style={{ right: width - bar.from * width + 6 }} className={cx(look, 'text-muted')}>
          {text}
        </span>
      );
    case 'on':
      return <span className={cx(look, 'right-1.5 rounded-sm bg-surface px-1 text-text')}>{text}</span>;
  }
}

/** Returns the CSS position of a span. The minimum width is two pixels, also at the right edge. */
function between(place: Place, { from, to }: Span) {
  // Browsers cannot handle the huge widths of bars far outside the view.
  const [start, end] = [Math.max(-0.1, place(from)), Math.min(1.1, place(to))];
  return {
    left: start > 1 ? '110%' : `min(${start * 100}%, calc(100% - 2px))`,
    width: `${Math.max(0, end - start) * 100}%`,
    ...(end < 0 && { display: 'none' }),
  };
}

/** Moves the focus between rows with the arrow keys. Rows next to the visible ones are in the DOM. */
function moveFocus(event: KeyboardEvent<HTMLButtonElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const rows = [...(event.currentTarget.closest('ol')?.querySelectorAll<HTMLButtonElement>('button[data-row]') ?? [])];
  const button = rows[rows.indexOf(event.currentTarget) + (event.key === 'ArrowDown' ? 1 : -1)];
  if (!button) return;
  event.preventDefault();
  button.focus();
}
