'use client';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { Plus } from 'lucide-react';
import { memo } from 'react';
import { nodeSize } from '../../graph/layout.ts';
import { LoopToggle } from '../../graph/loop-frame.tsx';
import { StepCard, type StepNodeData } from '../../graph/step-card.tsx';
import { useCanvasActions } from './canvas-actions.tsx';
import { outletsOf } from './outlets.ts';

export type EditorNodeData = StepNodeData & {
  /** Whether the step is a condition, so that each step after it belongs to a branch. */
  branches: boolean;
  /** Whether the search found the step. */
  found: boolean;
  editable: boolean;
  /** The id of the step. The node id also contains the ids of the loops around the step. */
  step: string;
  /** The node of the expanded loop around the step; empty if there is no loop. */
  loop: string;
};
export type EditorFlowNode = Node<EditorNodeData, 'step' | 'loop'>;

export const handleClass =
  'size-2.5! border-2! border-surface! bg-line-strong! transition-transform hover:scale-150 hover:bg-accent!';

/** A step on the canvas of the editor. It can be dragged, connected by its handles, and continued with “+”. */
export const EditorNode = memo(function EditorNode({ id, data, selected }: NodeProps<EditorFlowNode>) {
  const shown = outletsOf(data.branches);
  return (
    <div className="group relative" style={{ width: nodeSize.width, height: nodeSize.height }}>
      <Handle type="target" position={Position.Top} isConnectable={data.editable} className={handleClass} />
      <StepCard id={data.step} data={data} selected={selected} found={data.found} />
      {shown.map(outlet => (
        <Handle
          key={outlet.id}
          id={outlet.id}
          type="source"
          position={Position.Bottom}
          isConnectable={data.editable}
          style={{ left: `${outlet.at * 100}%` }}
          title={data.branches ? outlet.name : undefined}
          className={handleClass}
        />
      ))}
      {data.inner === null ? null : <DrawnLoopToggle node={id} data={data} isOpen={false} />}
      {data.editable ? <AddAfter node={id} data={data} selected={selected} /> : null}
    </div>
  );
});

type PartProps = { node: string; data: EditorNodeData };

/** The “+” below a step: one for each outlet of the step. */
export function AddAfter({ node, data, selected }: PartProps & { selected: boolean }) {
  const { add } = useCanvasActions();
  return outletsOf(data.branches).map(outlet => (
    <span
      key={outlet.id}
      style={{ left: `${outlet.at * 100}%` }}
      // The button starts at the middle of the handle, whose upper half must stay free for dragging.
      className={`pointer-events-none absolute top-full -translate-x-1/2 pt-1.5 transition-opacity group-hover:opacity-100 ${selected ? '' : 'opacity-0'}`}
    >
      {/* Keyboard users press Tab to add a step; a tab stop at every "+" would be in the way. */}
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Add a step after ${data.title}${data.branches ? `, ${outlet.name}` : ''}`}
        title={data.branches ? `Add a step: ${outlet.name}` : 'Add a step after this one'}
        onClick={event => {
          event.stopPropagation();
          add({ kind: 'after', step: node, ...(outlet.branch ? { branch: outlet.branch } : {}) });
        }}
        className="nodrag nopan pointer-events-auto flex h-6 min-w-6 items-center justify-center gap-0.5 rounded-full border bg-surface px-1 text-xs text-muted shadow-sm hover:border-accent hover:text-accent-text"
      >
        <Plus aria-hidden className="size-3.5" />
        {data.branches && outlet.branch ? outlet.name : null}
      </button>
    </span>
  ));
}

/** Expands or collapses a loop. Not reachable by keyboard, which has the key O. */
export function DrawnLoopToggle({ node, data, isOpen }: PartProps & { isOpen: boolean }) {
  const { toggleLoop } = useCanvasActions();
  if (toggleLoop === null) return null;
  return <LoopToggle title={data.title} isOpen={isOpen} isTabStop={false} onToggle={open => toggleLoop(node, open)} />;
}
