'use client';
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react';
import { Plus } from 'lucide-react';
import { memo } from 'react';
import type { Point } from '../../graph/layout.ts';
import { useCanvasActions } from './canvas-actions.tsx';

export type EditorFlowEdge = Edge<{ label: string | undefined; editable: boolean; crowded: boolean }, 'step'>;

/** How far along the connection its label is: nearer to its end, clear of the “+” of the step where it begins. */
const LABEL_AT = 0.78;

/** The point of the curve from bottom to top that `getBezierPath` draws. */
function labelPoint({
  sourceX,
  sourceY,
  targetX,
  targetY,
}: Record<'sourceX' | 'sourceY' | 'targetX' | 'targetY', number>): Point {
  const t = LABEL_AT;
  const [nearStart, nearEnd] = [3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2];
  const middle = (sourceY + targetY) / 2;
  return {
    x: sourceX * ((1 - t) ** 3 + nearStart) + targetX * (nearEnd + t ** 3),
    y: sourceY * (1 - t) ** 3 + middle * (nearStart + nearEnd) + targetY * t ** 3,
  };
}

/** A connection: labeled with its branch, and with a “+” that puts a step between its ends. */
export const EditorEdge = memo(function EditorEdge(props: EdgeProps<EditorFlowEdge>) {
  const { id, source, target, data, selected, markerEnd, style } = props;
  const { add } = useCanvasActions();
  const [path] = getBezierPath(props);
  const { x, y } = labelPoint(props);
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        markerEnd={markerEnd}
        interactionWidth={24}
        style={{ ...style, ...(selected ? { stroke: 'var(--accent)', strokeWidth: 2 } : {}) }}
      />
      <EdgeLabelRenderer>
        <div
          style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          className="nodrag nopan pointer-events-auto absolute flex items-center gap-1 group-data-[detail=far]/graph:hidden"
        >
          {data?.label ? <span className="rounded-sm bg-sunken px-1 text-xs text-muted">{data.label}</span> : null}
          {data?.editable && !data.crowded ? (
            <button
              type="button"
              tabIndex={-1}
              aria-label={`Insert a step between ${source} and ${target}`}
              title="Insert a step here"
              onClick={() => add({ kind: 'between', from: source, to: target })}
              className="flex size-5 items-center justify-center rounded-full border bg-surface text-faint hover:border-accent hover:text-accent-text"
            >
              <Plus aria-hidden className="size-3" />
            </button>
          ) : null}
        </div>
      </EdgeLabelRenderer>
    </>
  );
});
