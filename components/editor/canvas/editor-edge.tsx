'use client';
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react';
import { Plus, Trash2 } from 'lucide-react';
import { memo, type PointerEvent, useRef, useState } from 'react';
import type { Point } from '../../graph/layout.ts';
import { useCanvasActions } from './canvas-actions.tsx';

export type EditorFlowEdge = Edge<{ label: string | undefined; editable: boolean }, 'step'>;

/** How far along the connection its label is: nearer to its end, clear of the “+” of the step where it begins. */
const LABEL_AT = 0.78;

/** A point of the curve from bottom to top that `getBezierPath` draws; `t` from 0, its beginning, to 1. */
function pointOf(
  { sourceX, sourceY, targetX, targetY }: Record<'sourceX' | 'sourceY' | 'targetX' | 'targetY', number>,
  t: number,
): Point {
  const [nearStart, nearEnd] = [3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2];
  const middle = (sourceY + targetY) / 2;
  return {
    x: sourceX * ((1 - t) ** 3 + nearStart) + targetX * (nearEnd + t ** 3),
    y: sourceY * (1 - t) ** 3 + middle * (nearStart + nearEnd) + targetY * t ** 3,
  };
}

const at = ({ x, y }: Point) => ({ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` });

/**
 * A connection, labeled with its branch. Its tools, a “+” and a bin, are there only while it is pointed at or selected: always there, they
 * covered the connection itself and lay beside each other where branches join.
 */
export const EditorEdge = memo(function EditorEdge(props: EdgeProps<EditorFlowEdge>) {
  const { id, data, selected, markerEnd, style } = props;
  const [isPointedAt, setPointedAt] = useState(false);
  const line = useRef<SVGGElement>(null);
  const tools = useRef<HTMLDivElement>(null);
  const leave = ({ relatedTarget }: PointerEvent) => {
    const isInside = (place: Element | null) =>
      relatedTarget instanceof Node && place?.contains(relatedTarget) === true;
    if (!isInside(line.current) && !isInside(tools.current)) setPointedAt(false);
  };
  const [path] = getBezierPath(props);
  const isActive = selected === true || isPointedAt;
  return (
    <>
      <g ref={line} onPointerEnter={() => setPointedAt(true)} onPointerLeave={leave}>
        <BaseEdge
          id={id}
          path={path}
          markerEnd={markerEnd}
          interactionWidth={24}
          style={{ ...style, ...(isActive ? { stroke: 'var(--accent)', strokeWidth: 2 } : {}) }}
        />
      </g>
      {data?.label || (isActive && data?.editable) ? (
        <EdgeLabelRenderer>
          {data.label ? (
            <span
              style={at(pointOf(props, LABEL_AT))}
              className="absolute rounded-sm bg-sunken px-1 text-xs text-muted group-data-[detail=far]/graph:hidden"
            >
              {data.label}
            </span>
          ) : null}
          {isActive && data.editable ? (
            <div
              ref={tools}
              style={at(pointOf(props, 0.5))}
              className="nodrag nopan pointer-events-auto absolute z-2000 flex gap-1"
              onPointerLeave={leave}
            >
              <EdgeTools from={props.source} to={props.target} />
            </div>
          ) : null}
        </EdgeLabelRenderer>
      ) : null}
    </>
  );
});

const toolClass =
  'flex size-6 items-center justify-center rounded-full border bg-surface text-muted shadow-sm hover:border-accent hover:text-accent-text';

/** Not for the keyboard: it inserts and removes connections in the form of a step. */
function EdgeTools({ from, to }: { from: string; to: string }) {
  const { add, disconnect } = useCanvasActions();
  return (
    <>
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Insert a step between ${from} and ${to}`}
        title="Insert a step here"
        onClick={() => add({ kind: 'between', from, to })}
        className={toolClass}
      >
        <Plus aria-hidden className="size-3.5" />
      </button>
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Delete the connection from ${from} to ${to}`}
        title="Delete the connection"
        onClick={() => disconnect(from, to)}
        className={toolClass}
      >
        <Trash2 aria-hidden className="size-3.5" />
      </button>
    </>
  );
}
