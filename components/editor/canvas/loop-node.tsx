import { Handle, type NodeProps, Position } from '@xyflow/react';
import { Plus } from 'lucide-react';
import { memo } from 'react';
import { CONTAINER } from '../../graph/containers.ts';
import { nodeSize } from '../../graph/layout.ts';
import { LoopFrame } from '../../graph/loop-frame.tsx';
import { useCanvasActions } from './canvas-actions.tsx';
import { AddAfter, DrawnLoopToggle, type EditorFlowNode, handleClass } from './editor-node.tsx';

/** An expanded loop, in which its steps are drawn and edited. */
export const LoopNode = memo(function LoopNode(props: NodeProps<EditorFlowNode>) {
  const { id, data, selected, width = nodeSize.width, height, positionAbsoluteX } = props;
  return (
    <div className="group relative" style={{ width, height }}>
      <Handle
        type="target"
        position={Position.Top}
        isConnectable={data.editable}
        className={`${handleClass} pointer-events-auto!`}
      />
      <LoopFrame
        step={data.step}
        data={data}
        selected={selected}
        found={data.found}
        x={positionAbsoluteX}
        width={width}
        headClass="cursor-grab"
        toggle={<DrawnLoopToggle node={id} data={data} isOpen />}
      >
        {data.inner === 0 && data.editable ? <FirstStep node={id} title={data.title} /> : null}
      </LoopFrame>
      <Handle
        id="out"
        type="source"
        position={Position.Bottom}
        isConnectable={data.editable}
        className={`${handleClass} pointer-events-auto!`}
      />
      {data.editable ? <AddAfter node={id} data={data} selected={selected} /> : null}
    </div>
  );
});

function FirstStep({ node, title }: { node: string; title: string }) {
  const { addIn } = useCanvasActions();
  return (
    <div className="flex flex-1 items-center justify-center" style={{ paddingBottom: CONTAINER.side / 2 }}>
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Add the first step of ${title}`}
        onClick={event => {
          event.stopPropagation();
          addIn(node);
        }}
        className="nodrag nopan pointer-events-auto flex h-8 items-center gap-1.5 rounded-md border border-dashed bg-surface px-3 text-sm text-muted hover:border-accent hover:text-accent-text"
      >
        <Plus aria-hidden className="size-3.5" />
        Add the first step
      </button>
    </div>
  );
}
