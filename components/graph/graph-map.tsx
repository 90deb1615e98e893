'use client';
import { Panel, useReactFlow, useStore } from '@xyflow/react';
import { type PointerEvent, useMemo } from 'react';
import type { StepFamily } from '@/server/orchestrator/ports/step-type.ts';
import { nodeSize, type Point } from './layout.ts';
import type { Size } from './notes.ts';
import { stepTypeLook } from './step-icon.tsx';

const WIDTH = 200;
const HEIGHT = 150;
const PADDING = nodeSize.width;

type Box = { x: number; y: number; width: number; height: number };

/** A step, or an open loop, with its size. */
type Drawn = Point & Partial<Size>;
type Places = ReadonlyMap<string, Drawn>;
type MapProps = {
  places: Places;
  /** The types of the steps by node id. A node without a type is not a step. */
  types: ReadonlyMap<string, string>;
  problems?: { has: (node: string) => boolean };
  selected?: { has: (node: string) => boolean };
};
const none: ReadonlySet<string> = new Set();

/** Returns one path for the steps of each family. Open loops are drawn below the steps in them. */
function pathsByFamily(places: Places, types: MapProps['types']): [StepFamily, string][] {
  const paths = new Map<StepFamily, string>();
  for (const [node, at] of places) {
    const type = types.get(node);
    if (type === undefined) continue;
    const { family } = stepTypeLook(type);
    // Only the head of an open loop is drawn, because its body would hide its steps.
    const { width = nodeSize.width } = at;
    paths.set(family, (paths.get(family) ?? '') + rectangle({ ...at, width, height: nodeSize.height }));
  }
  return [...paths];
}

/**
 * A map of the whole graph. A press or a drag on it moves the view. The steps of a family share one path, because React
 * Flow's own map has an element and a subscription for each step, which takes 0.3 s for 2,000 steps.
 */
export function GraphMap({ places, types, problems = none, selected = none }: MapProps) {
  const box = useMemo(() => boxAround(places), [places]);
  const families = useMemo(() => pathsByFamily(places, types), [places, types]);
  // Marks for steps that need attention are larger, because a step of a large graph is two pixels high.
  const edge = Math.max(box.width / WIDTH, box.height / HEIGHT) * 2;
  const pathOf = (marked: { has: (node: string) => boolean }) =>
    [...places].map(([node, at]) => (marked.has(node) ? rectangle({ ...nodeSize, ...at }) : '')).join('');
  const { setCenter, getZoom } = useReactFlow();
  const move = (event: PointerEvent<SVGSVGElement>) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    // The same fit as `preserveAspectRatio`: by the larger side, centered.
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
        {families.map(([family, path]) => (
          <path key={family} d={path} fill={`var(--family-${family})`} fillOpacity={0.75} />
        ))}
        <path d={pathOf(problems)} fill="var(--bad)" stroke="var(--bad)" strokeWidth={edge} />
        <path d={pathOf(selected)} fill="none" stroke="var(--accent)" strokeWidth={2 * edge} />
        <OutOfView box={box} />
      </svg>
    </Panel>
  );
}

/** Covers the part out of view. A separate component, so that moving the graph redraws nothing else. */
function OutOfView({ box }: { box: Box }) {
  const [left, top, zoom] = useStore(state => state.transform);
  const width = useStore(state => state.width);
  const height = useStore(state => state.height);
  // Extends beyond the box, because the map may have another aspect ratio.
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

function boxAround(places: Places): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, width = nodeSize.width, height = nodeSize.height } of places.values()) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  if (left === Infinity) return { x: 0, y: 0, ...nodeSize };
  return {
    x: left - PADDING,
    y: top - PADDING,
    width: right - left + 2 * PADDING,
    height: bottom - top + 2 * PADDING,
  };
}
