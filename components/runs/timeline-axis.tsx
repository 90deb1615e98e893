import { Minus, Plus, RotateCcw } from 'lucide-react';
import { type PointerEvent, useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { formatDuration } from '../ui/time.tsx';
import type { Span } from './timeline-model.ts';
import {
  clampZoom,
  fitLabels,
  formatTick,
  isWhole,
  type Place,
  ticksOf,
  WHOLE,
  type Zoom,
  zoomBy,
} from './timeline-scale.ts';

type ZoomProps = { zoom: Zoom; onZoom: (zoom: Zoom) => void };

/** The buttons that zoom; keys on a row of the timeline do the same. */
export function ZoomButtons({ zoom, onZoom }: ZoomProps) {
  return (
    <span className="flex items-center gap-1">
      <IconButton label="Zoom out" size="sm" disabled={isWhole(zoom)} onClick={() => onZoom(zoomBy(zoom, 2))}>
        <Minus aria-hidden className="size-3.5" />
      </IconButton>
      <IconButton label="Zoom in" size="sm" onClick={() => onZoom(zoomBy(zoom, 0.5))}>
        <Plus aria-hidden className="size-3.5" />
      </IconButton>
      {isWhole(zoom) ? null : (
        <Button size="sm" icon={<RotateCcw aria-hidden className="size-3.5" />} onClick={() => onZoom(WHOLE)}>
          Show all
        </Button>
      )}
    </span>
  );
}

type AxisProps = ZoomProps & { span: Span; gaps: readonly Span[]; place: Place; width: number };

/** A drag over fewer pixels counts as a click. */
const MIN_DRAG_PX = 4;

/** The time axis of the visible part. A drag over the axis zooms to the dragged part. */
export function Axis({ span, gaps, place, width, zoom, onZoom }: AxisProps) {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const at = (event: PointerEvent<HTMLDivElement>) =>
    Math.min(width, Math.max(0, event.clientX - event.currentTarget.getBoundingClientRect().left));
  const end = () => {
    if (drag === null) return;
    const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    setDrag(null);
    if (to - from < MIN_DRAG_PX) return;
    const part = (x: number) => zoom.from + (x / width) * (zoom.to - zoom.from);
    onZoom(clampZoom({ from: part(from), to: part(to) }));
  };
  const folds = gaps.flatMap(gap => {
    const [from, to] = [place(gap.from) * width, place(gap.to) * width];
    const text = `⋯ ${formatDuration(gap.to - gap.from)}`;
    const title = `${formatDuration(gap.to - gap.from)} in which no step ran`;
    return to < 0 || from > width ? [] : [{ key: `gap ${gap.from}`, text, title, center: (from + to) / 2 }];
  });
  const ticks = ticksOf({ span, gaps, place, width }, formatTick);
  const labels = fitLabels(
    [...folds, ...ticks.map(({ at: tick, text, x }) => ({ key: `${tick}`, text, center: x }))],
    width,
  );
  return (
    <div
      title="Drag to zoom"
      onPointerDown={event => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from: at(event), to: at(event) });
      }}
      onPointerMove={event => drag && setDrag({ from: drag.from, to: at(event) })}
      onPointerUp={end}
      onPointerCancel={() => setDrag(null)}
      data-axis
      className="relative h-7 cursor-crosshair touch-pan-y overflow-hidden rounded-md border bg-sunken text-xs text-muted tabular-nums select-none"
    >
      {ticks.map(({ at: tick, x }) => (
        <span
          key={tick}
          aria-hidden
          style={{ left: x }}
          className="absolute bottom-0 h-1.5 border-l border-line-strong"
        />
      ))}
      {labels.map(({ key, text, title, left }) => (
        <span key={key} title={title} style={{ left }} className="absolute top-1 whitespace-nowrap">
          {text}
        </span>
      ))}
      {drag === null ? null : (
        <span
          aria-hidden
          style={{ left: Math.min(drag.from, drag.to), width: Math.abs(drag.to - drag.from) }}
          className="absolute inset-y-0 border-x border-accent bg-accent-soft/70"
        />
      )}
    </div>
  );
}
