'use client';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { Checkbox } from '../ui/checkbox.tsx';
import { cx } from '../ui/classes.ts';
import { useNow } from '../ui/time.tsx';
import type { UnfoldedLoop } from './item-windows.ts';
import type { Steps } from './run-graph.tsx';
import { Axis, ZoomButtons } from './timeline-axis.tsx';
import { segmentKinds, segmentLooks } from './timeline-looks.ts';
import { gapsOf, scaleOf, timelineOf } from './timeline-model.ts';
import { TimelineRows } from './timeline-rows.tsx';
import { moveBy, WHOLE, type Zoom, zoomBy, zoomed } from './timeline-scale.ts';
import type { LiveRun } from './use-run.ts';
import { type ShownRow, useUnfoldedLoops } from './use-unfolded-loops.ts';

type Props = {
  steps: Steps;
  snapshot: Snapshot;
  live: LiveRun;
  selected: string | null;
  onSelect: (step: string) => void;
  folded: boolean;
  onFolded: (folded: boolean) => void;
  zoom: Zoom;
  onZoom: (zoom: Zoom) => void;
  /** The loops whose items are shown. */
  unfolded: readonly UnfoldedLoop[];
  onUnfolded: (loops: readonly UnfoldedLoop[]) => void;
};

/** When each step of a run was queued, ran, waited and was retried. Only the rows in view are in the DOM. */
export function RunTimeline(props: Props) {
  const { steps, snapshot, live, selected, onSelect, folded, onFolded, zoom, onZoom, unfolded, onUnfolded } = props;
  const ended = live.state.endedAt !== null;
  const now = useNow();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is changed in place; `revision` says when
  const timeline = useMemo(
    () => timelineOf(steps, live.state, Date.parse(snapshot.started_at), now),
    [steps, live.state, live.revision, snapshot.started_at, ended ? 0 : now],
  );
  const rows = useUnfoldedLoops(timeline, { steps, snapshot, unfolded, ended });
  const gaps = useMemo(() => gapsOf(timeline), [timeline]);
  const shownGaps = useMemo(() => (folded ? gaps : []), [folded, gaps]);
  const { from, to } = zoom;
  const place = useMemo(() => zoomed(scaleOf(timeline, shownGaps), { from, to }), [timeline, shownGaps, from, to]);
  const plot = useRef<HTMLDivElement>(null);
  const width = useWidth(plot);
  const shown = useMemo(() => ({ rows, place, gaps: shownGaps, width }), [rows, place, shownGaps, width]);
  return (
    <div className="flex h-full min-h-80 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Legend rows={rows} />
        <span className="ml-auto flex items-center gap-3">
          {gaps.length > 0 ? <Checkbox label="Fold idle time" checked={folded} onCheckedChange={onFolded} /> : null}
          <ZoomButtons zoom={zoom} onZoom={onZoom} />
        </span>
      </div>
      <div className="ml-28 sm:ml-48" ref={plot}>
        <Axis span={timeline} gaps={shownGaps} place={place} width={width} zoom={zoom} onZoom={onZoom} />
      </div>
      <TimelineRows
        shown={shown}
        onKey={event => zoomByKey(event, zoom, onZoom)}
        steps={steps}
        selected={selected}
        onSelect={onSelect}
        unfolded={unfolded}
        onUnfolded={onUnfolded}
      />
    </div>
  );
}

/** Handles the keys: + and - zoom, left and right arrows move, 0 shows the whole timeline. */
function zoomByKey(event: KeyboardEvent, zoom: Zoom, onZoom: (zoom: Zoom) => void): void {
  if (event.metaKey || event.ctrlKey || event.altKey || !(event.target instanceof HTMLButtonElement)) return;
  const next = keys[event.key]?.(zoom);
  if (next === undefined) return;
  event.preventDefault();
  onZoom(next);
}

const keys: Record<string, (zoom: Zoom) => Zoom> = {
  '+': zoom => zoomBy(zoom, 0.5),
  '=': zoom => zoomBy(zoom, 0.5),
  '-': zoom => zoomBy(zoom, 2),
  ArrowLeft: zoom => moveBy(zoom, -0.25),
  ArrowRight: zoom => moveBy(zoom, 0.25),
  '0': () => WHOLE,
};

function Legend({ rows }: { rows: readonly ShownRow[] }) {
  const used = useMemo(
    () => new Set(rows.flatMap(row => ('items' in row ? [] : row.segments.map(({ kind }) => kind)))),
    [rows],
  );
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
      {segmentKinds
        .filter(kind => used.has(kind))
        .map(kind => (
          <li key={kind} className="flex items-center gap-1.5">
            <span aria-hidden className={cx('inline-block w-4', segmentLooks[kind].className)} />
            {segmentLooks[kind].label}
          </li>
        ))}
    </ul>
  );
}

/** Returns the width of an element in pixels; 0 until it is known. */
function useWidth(of: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = of.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [of]);
  return width;
}
