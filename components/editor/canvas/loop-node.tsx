import { Handle, type NodeProps, Position } from '@xyflow/react';
import { Plus } from 'lucide-react';
import { memo } from 'react';
import { CONTAINER } from '../../graph/containers.ts';
import { nodeSize } from '../../graph/layout.ts';
import { StepTile } from '../../graph/step-icon.tsx';
import { ringOf, SecondLine, StepSign } from '../../graph/step-node.tsx';
import { cx } from '../../ui/classes.ts';
import { useCanvasActions } from './canvas-actions.tsx';
import { AddAfter, type EditorFlowNode, handleClass, LoopToggle } from './editor-node.tsx';

/** An open loop: a frame around its steps, which are nodes of their own, beneath a head that is the loop itself. */
export const LoopNode = memo(function LoopNode({ id, data, selected, width, height }: NodeProps<EditorFlowNode>) {
  return (
    <div className="group relative" style={{ width, height }}>
      <Handle
        type="target"
        position={Position.Top}
        isConnectable={data.editable}
        className={`${handleClass} pointer-events-auto!`}
      />
      <div
        data-step={data.step}
        data-open
        data-status={data.status ?? undefined}
        data-disabled={data.disabled || undefined}
        className={cx(
          'flex h-full flex-col rounded-lg border',
          ringOf(data),
          'bg-family-logic/6!',
          data.disabled && 'border-dashed',
          selected && 'ring-2 ring-accent',
          data.found && !selected && 'ring-2 ring-warn',
        )}
      >
        <div
          style={{ height: nodeSize.height }}
          className="pointer-events-auto flex cursor-grab items-center gap-2.5 rounded-t-lg border-b bg-surface px-3"
        >
          <StepTile type={data.type} size="lg" struck={data.disabled} />
          <div className="min-w-0 flex-1 group-data-[detail=far]/graph:hidden">
            <p className={cx('truncate text-sm font-medium', data.disabled && 'text-muted')}>{data.title}</p>
            <SecondLine data={data} />
          </div>
          <StepSign data={data} />
          <LoopToggle node={id} data={data} isOpen />
        </div>
        {data.inner === 0 && data.editable ? <FirstStep node={id} title={data.title} /> : null}
      </div>
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
