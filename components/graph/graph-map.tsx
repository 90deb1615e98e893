'use client';
import { Panel, useReactFlow, useStore } from '@xyflow/react';
import { type PointerEvent, useMemo } from 'react';
import { nodeSize, type Point } from './layout.ts';

const WIDTH = 200;
const HEIGHT = 150;
const PADDING = nodeSize.width;

type Box = { x: number; y: number; width: number; height: number };

/**
 * A map of the whole graph with the part in view, which a press or a drag moves. The steps are one path: React Flow's own map is an element
 * and a subscription for each of them, which takes 0.3 s for 2,000.
 */
export function GraphMap({ places }: { places: ReadonlyMap<string, Point> }) {
  const box = useMemo(() => boxAround(places), [places]);
  const steps = useMemo(() => [...places.values()].map(at => rectangle({ ...at, ...nodeSize })).join(''), [places]);
  const { setCenter, getZoom } = useReactFlow();
  const move = (event: PointerEvent<SVGSVGElement>) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    // As `preserveAspectRatio` fits the box: by its larger side, in the middle.
    const scale = Math.max(box.width / WIDTH, box.height / HEIGHT);
    const x = box.x + box.width / 2 + (event.clientX - left - WIDTH / 2) * scale;
    const y = box.y + box.height / 2 + (event.clientY - top - HEIGHT / 2) * scale;
    void setCenter(x, y, { zoom: getZoom() });
  };
  return (
    <Panel position="bottom-right" className="overflow-hidden rounded-md border bg-surface max-sm:hidden">
      <svg
        role="img"
        aria-label="Map of the graph"
        width={WIDTH}
        height={HEIGHT}
        viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`}
        className="nopan nowheel block cursor-pointer touch-none"
        onPointerDown={event => {
          event.currentTarget.setPointerCapture(event.pointerId);
          move(event);
        }}
        onPointerMove={event => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) move(event);
        }}
      >
        <path d={steps} fill="var(--line-strong)" />
        <OutOfView box={box} />
      </svg>
    </Panel>
  );
}

/** Covers what is not in view. Apart, so that moving the graph draws this alone. */
function OutOfView({ box }: { box: Box }) {
  const [left, top, zoom] = useStore(state => state.transform);
  const width = useStore(state => state.width);
  const height = useStore(state => state.height);
  // Beyond the box, whose shape may differ from that of the map.
  const all = { x: box.x - 9 * box.width, y: box.y - 9 * box.height, width: 19 * box.width, height: 19 * box.height };
  const view = { x: -left / zoom, y: -top / zoom, width: width / zoom, height: height / zoom };
  return (
    <path
      d={rectangle(all) + rectangle(view)}
      fill="var(--scrim)"
      fillOpacity={0.5}
      fillRule="evenodd"
      pointerEvents="none"
    />
  );
}

function rectangle({ x, y, width, height }: Box): string {
  return `M${x},${y}h${width}v${height}h${-width}z`;
}

function boxAround(places: ReadonlyMap<string, Point>): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of places.values()) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + nodeSize.width);
    bottom = Math.max(bottom, y + nodeSize.height);
  }
  if (left === Infinity) return { x: 0, y: 0, ...nodeSize };
  return {
    x: left - PADDING,
    y: top - PADDING,
    width: right - left + 2 * PADDING,
    height: bottom - top + 2 * PADDING,
  };
}
