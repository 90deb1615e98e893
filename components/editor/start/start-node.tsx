import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { Play } from 'lucide-react';
import { memo } from 'react';

export type StartFlowNode = Node<{ detail: string; open: () => void }, 'start'>;

/** The id of the start node. It collides with no step, because step ids contain no colon. */
export const START_NODE = 'start:';
export const START_SIZE = { width: 220, height: 44 };

/** The start node above the first steps, labeled with the ways in which the workflow starts. It opens the start dialog. */
export const StartNode = memo(function StartNode({ data }: NodeProps<StartFlowNode>) {
  return (
    <>
      <button
        type="button"
        tabIndex={-1}
        aria-label="How it starts"
        onClick={data.open}
        style={START_SIZE}
        className="nodrag nopan flex items-center gap-2.5 rounded-full border border-dashed border-line-strong bg-surface px-4 text-left hover:border-accent"
      >
        <Play aria-hidden className="size-4 shrink-0 text-muted" />
        <span className="min-w-0 flex-1 group-data-[detail=far]/graph:hidden">
          <span className="block truncate text-sm leading-4 font-medium">Start</span>
          <span className="block truncate text-xs text-muted group-data-[detail=middle]/graph:hidden">
            {data.detail}
          </span>
        </span>
      </button>
      <Handle type="source" position={Position.Bottom} isConnectable={false} className="opacity-0!" />
    </>
  );
});
