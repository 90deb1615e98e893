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
  /** A condition: what comes after it belongs to a branch. */
  branches: boolean;
  /** Found by the search. */
  found: boolean;
  editable: boolean;
  /** The step's id: that of its node names the loops around it, too. */
  step: string;
  /** The node of the open loop around it; empty: there is none. */
  loop: string;
};
export type EditorFlowNode = Node<EditorNodeData, 'step' | 'loop'>;

export const handleClass =
  'size-2.5! border-2! border-surface! bg-line-strong! transition-transform hover:scale-150 hover:bg-accent!';

/** A step on the canvas of the editor: it can be dragged, connected by its handles, and continued with “+”. */
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

/** The “+” below a step, one for each of its outlets. */
export function AddAfter({ node, data, selected }: PartProps & { selected: boolean }) {
  const { add } = useCanvasActions();
  return outletsOf(data.branches).map(outlet => (
    <span
      key={outlet.id}
      style={{ left: `${outlet.at * 100}%` }}
      // It begins in the middle of the handle, which must stay free to be dragged.
      className={`pointer-events-none absolute top-full -translate-x-1/2 pt-1.5 transition-opacity group-hover:opacity-100 ${selected ? '' : 'opacity-0'}`}
    >
      {/* The keyboard has its own way (Tab); a stop at every "+" would be in its way. */}
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

/** Opens or closes a loop. Not for the keyboard, which has O. */
export function DrawnLoopToggle({ node, data, isOpen }: PartProps & { isOpen: boolean }) {
  const { toggleLoop } = useCanvasActions();
  if (toggleLoop === null) return null;
  return <LoopToggle title={data.title} isOpen={isOpen} isTabStop={false} onToggle={open => toggleLoop(node, open)} />;
}
