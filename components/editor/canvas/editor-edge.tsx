'use client';
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react';
import { Plus, Trash2 } from 'lucide-react';
import { memo, useSyncExternalStore } from 'react';
import type { Point } from '../../graph/layout.ts';
import { cx } from '../../ui/classes.ts';
import { useCanvasActions } from './canvas-actions.tsx';

export type EditorFlowEdge = Edge<{ label: string | undefined; editable: boolean }, 'step'>;

/**
 * The position of the label and the buttons along the connection: near its end, and not under the “+” of the step where
 * it begins.
 */
const LABEL_AT = 0.78;

/** Returns a point on the vertical curve that `getBezierPath` draws. */
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

/**
 * A connection, labeled with its branch. Its tools, “+” and delete, are shown only while the connection is hovered or selected: if they
 * were always shown, they would cover the connection and lie next to each other where branches join.
 */
export const EditorEdge = memo(function EditorEdge(props: EdgeProps<EditorFlowEdge>) {
  const { id, data, selected, markerEnd, style } = props;
  const { pointed } = useCanvasActions();
  const isPointedAt = useSyncExternalStore(
    pointed.subscribe,
    () => pointed.id === id,
    () => false,
  );
  const [path] = getBezierPath(props);
  const { x, y } = labelPoint(props);
  const isActive = selected === true || isPointedAt;
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        markerEnd={markerEnd}
        interactionWidth={24}
        style={{ ...style, ...(isActive ? { stroke: 'var(--accent)', strokeWidth: 2 } : {}) }}
      />
      {data?.label || (isActive && data?.editable) ? (
        <EdgeLabelRenderer>
          <div
            data-edge-tools={id}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
            className={cx(
              'nodrag nopan pointer-events-auto absolute flex items-center gap-1 group-data-[detail=far]/graph:hidden',
              isActive && 'z-2000',
            )}
            onPointerEnter={() => pointed.enter(id)}
            onPointerLeave={event => pointed.leave(id, event.relatedTarget)}
          >
            {data.label ? <span className="rounded-sm bg-sunken px-1 text-xs text-muted">{data.label}</span> : null}
            {isActive && data.editable ? <EdgeTools from={props.source} to={props.target} /> : null}
          </div>
        </EdgeLabelRenderer>
      ) : null}
    </>
  );
});

const toolClass =
  'flex size-6 items-center justify-center rounded-full border bg-surface text-muted shadow-sm hover:border-accent hover:text-accent-text';

/** Buttons that cannot be reached by keyboard: keyboard users insert and remove connections in the form of a step. */
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
