'use client';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { CircleAlert } from 'lucide-react';
import { memo } from 'react';
import { cx } from '../ui/classes.ts';
import { statusLook } from '../ui/status-badge.tsx';
import { nodeSize } from './layout.ts';
import { stepTypeLook } from './step-icon.tsx';

/** The data that a node shows, as plain values, so that an unchanged node is not drawn again. */
export type StepNodeData = {
  title: string;
  type: string;
  status: string | null;
  statusLabel: string | null;
  attempt: number;
  problems: number;
  disabled: boolean;
  gated: boolean;
  /** The number of steps of a loop; null for any other step. */
  inner: number | null;
};
export type StepFlowNode = Node<StepNodeData, 'step'>;

const edge: Record<string, string> = {
  neutral: 'border-line-strong/60',
  accent: 'border-accent',
  ok: 'border-ok',
  warn: 'border-warn',
  bad: 'border-bad',
  info: 'border-info',
};
const text: Record<string, string> = {
  neutral: 'text-muted',
  accent: 'text-accent-text',
  ok: 'text-ok',
  warn: 'text-warn',
  bad: 'text-bad',
  info: 'text-info',
};

/** A step in the graph: its type as an icon, its name, and how it goes (icon, word and colour). */
export const StepNode = memo(function StepNode({ id, data, selected }: NodeProps<StepFlowNode>) {
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} className="opacity-0!" />
      <StepCard id={id} data={data} selected={selected} />
      <Handle type="source" position={Position.Bottom} isConnectable={false} className="opacity-0!" />
    </>
  );
});

/** The background of a step that is seen from afar, where its border is too thin to show a color. */
const far: Record<string, string> = {
  neutral: '',
  accent: 'group-data-[detail=far]/graph:bg-accent-soft',
  ok: 'group-data-[detail=far]/graph:bg-ok-soft',
  warn: 'group-data-[detail=far]/graph:bg-warn-soft',
  bad: 'group-data-[detail=far]/graph:bg-bad-soft',
  info: 'group-data-[detail=far]/graph:bg-info-soft',
};
const farIcon = 'group-data-[detail=far]/graph:size-10';
const notFar = 'group-data-[detail=far]/graph:hidden';

type StepCardProps = { id: string; data: StepNodeData; selected: boolean; found?: boolean };

/** The face of a step, without the ends of its edges. */
export function StepCard({ id, data, selected, found = false }: StepCardProps) {
  const type = stepTypeLook(data.type);
  const look = data.status === null ? null : statusLook('step', data.status);
  const StatusIcon = look?.icon;
  const TypeIcon = type.icon;
  const quiet = data.disabled || data.status === 'skipped' || data.status === 'pending';
  return (
    <div
      style={{ width: nodeSize.width, height: nodeSize.height }}
      data-step={id}
      data-status={data.status ?? undefined}
      className={cx(
        'flex flex-col justify-center gap-0.5 rounded-lg border px-3 transition-colors',
        // What a proposal removes is pale, but as legible as any text.
        data.status === 'removed' ? 'bg-sunken' : 'bg-surface shadow-sm',
        'group-data-[detail=far]/graph:flex-row group-data-[detail=far]/graph:items-center group-data-[detail=far]/graph:gap-3 group-data-[detail=far]/graph:border-2',
        data.problems > 0 ? 'border-bad' : look ? edge[look.tone] : 'border-line-strong/60',
        far[data.problems > 0 ? 'bad' : (look?.tone ?? 'neutral')],
        selected && 'ring-2 ring-accent',
        found && !selected && 'ring-2 ring-warn',
        (quiet || data.status === 'added' || data.status === 'removed') && 'border-dashed',
      )}
    >
      <div className="flex items-center gap-2">
        <TypeIcon aria-hidden className={cx('size-4 shrink-0 text-muted', farIcon)} />
        <span
          className={cx('truncate text-sm font-medium', data.status === 'removed' && 'text-muted line-through', notFar)}
        >
          {data.title}
        </span>
        {data.problems > 0 ? (
          <CircleAlert aria-hidden className={cx('ml-auto size-4 shrink-0 text-bad', farIcon)} />
        ) : null}
      </div>
      <div className="flex items-center gap-1 text-xs text-muted">
        {look && StatusIcon ? (
          <span className={cx('flex min-w-0 items-center gap-1', text[look.tone])}>
            <StatusIcon aria-hidden className={cx('size-3 shrink-0', farIcon, look.live && 'animate-pulse-soft')} />
            <span className={cx('truncate', notFar)}>{data.statusLabel ?? look.label}</span>
          </span>
        ) : (
          <span className={cx('truncate', notFar)}>{note(data) ?? type.label}</span>
        )}
        {data.inner !== null ? (
          <span className={cx('ml-auto shrink-0 tabular-nums', notFar)}>{stepCount(data.inner)}</span>
        ) : null}
        {data.attempt > 1 && data.inner === null ? (
          <span className={cx('ml-auto shrink-0 tabular-nums', notFar)}>attempt {data.attempt}</span>
        ) : null}
      </div>
    </div>
  );
}

const stepCount = (count: number) => (count === 1 ? '1 step' : `${count} steps`);

function note(data: StepNodeData): string | null {
  if (data.problems > 0) return data.problems === 1 ? '1 problem' : `${data.problems} problems`;
  if (data.disabled) return 'Disabled';
  return data.gated ? 'Only when started by name' : null;
}
