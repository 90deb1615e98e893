'use client';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { Plus } from 'lucide-react';
import { memo } from 'react';
import { nodeSize } from '../../graph/layout.ts';
import { StepCard, type StepNodeData } from '../../graph/step-node.tsx';
import { useCanvasActions } from './canvas-actions.tsx';
import { outletsOf } from './outlets.ts';

export type EditorNodeData = StepNodeData & {
  /** A condition: what comes after it belongs to a branch. */
  branches: boolean;
  /** Found by the search. */
  found: boolean;
  editable: boolean;
};
export type EditorFlowNode = Node<EditorNodeData, 'step'>;

const handleClass =
  'size-2.5! border-2! border-surface! bg-line-strong! transition-transform hover:scale-150 hover:bg-accent!';

/** A step on the canvas of the editor: it can be dragged, connected by its handles, and continued with “+”. */
export const EditorNode = memo(function EditorNode({ id, data, selected }: NodeProps<EditorFlowNode>) {
  const { add } = useCanvasActions();
  const shown = outletsOf(data.branches);
  return (
    <div className="group relative" style={{ width: nodeSize.width, height: nodeSize.height }}>
      <Handle type="target" position={Position.Top} isConnectable={data.editable} className={handleClass} />
      <StepCard id={id} data={data} selected={selected} found={data.found} />
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
      {data.editable
        ? shown.map(outlet => (
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
                  add({ kind: 'after', step: id, ...(outlet.branch ? { branch: outlet.branch } : {}) });
                }}
                className="nodrag nopan pointer-events-auto flex h-6 min-w-6 items-center justify-center gap-0.5 rounded-full border bg-surface px-1 text-xs text-muted shadow-sm hover:border-accent hover:text-accent-text"
              >
                <Plus aria-hidden className="size-3.5" />
                {data.branches && outlet.branch ? outlet.name : null}
              </button>
            </span>
          ))
        : null}
    </div>
  );
});
