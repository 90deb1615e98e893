import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { createContext, memo, type ReactNode, useContext } from 'react';
import { CONTAINER } from './containers.ts';
import { nodeSize } from './layout.ts';
import { LoopFrame, LoopToggle } from './loop-frame.tsx';
import { StepCard, type StepNodeData } from './step-card.tsx';

type PlainStepData = StepNodeData & {
  /** The step's id. The id of its node also contains the ids of its loops. */
  step: string;
};
export type PlainStepNode = Node<PlainStepData, 'step' | 'loop'>;

/** The controls of the loops in a graph. */
export type LoopTools = {
  /** Opens or closes a loop, by its node; null: loops stay closed. */
  toggle: ((node: string, open: boolean) => void) | null;
  /** Returns the content for the foot of an open loop. */
  foot: (node: string) => ReactNode;
};
export const LoopToolsContext = createContext<LoopTools>({ toggle: null, foot: () => null });

/** A step in a read-only graph. */
export const PlainStep = memo(function PlainStep({ id, data, selected }: NodeProps<PlainStepNode>) {
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} className="opacity-0!" />
      <StepCard id={data.step} data={data} selected={selected} />
      {data.inner === null ? null : <Toggle node={id} data={data} isOpen={false} />}
      <Handle type="source" position={Position.Bottom} isConnectable={false} className="opacity-0!" />
    </>
  );
});

/** An open loop in a read-only graph. */
export const PlainLoop = memo(function PlainLoop(props: NodeProps<PlainStepNode>) {
  const { id, data, selected, width = nodeSize.width, height, positionAbsoluteX } = props;
  const { foot } = useContext(LoopToolsContext);
  return (
    <div className="relative" style={{ width, height }}>
      <Handle type="target" position={Position.Top} isConnectable={false} className="opacity-0!" />
      <LoopFrame
        step={data.step}
        data={data}
        selected={selected}
        x={positionAbsoluteX}
        width={width}
        headClass="cursor-pointer"
        toggle={<Toggle node={id} data={data} isOpen />}
      >
        <div
          style={{ height: CONTAINER.bottom }}
          className="mt-auto flex items-center px-2 group-data-[detail=far]/graph:invisible"
        >
          {foot(id)}
        </div>
      </LoopFrame>
      <Handle type="source" position={Position.Bottom} isConnectable={false} className="opacity-0!" />
    </div>
  );
});

function Toggle({ node, data, isOpen }: { node: string; data: StepNodeData; isOpen: boolean }) {
  const { toggle } = useContext(LoopToolsContext);
  if (toggle === null) return null;
  return <LoopToggle title={data.title} isOpen={isOpen} isTabStop onToggle={open => toggle(node, open)} />;
}
