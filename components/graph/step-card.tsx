import { CircleAlert, Pin } from 'lucide-react';
import { cx } from '../ui/classes.ts';
import { statusLook } from '../ui/status-badge.tsx';
import { nodeSize } from './layout.ts';
import { StepTile, stepTypeLook } from './step-icon.tsx';

/** The data of a node. All values are primitive, so that an unchanged node is not drawn again. */
export type StepNodeData = {
  title: string;
  type: string;
  status: string | null;
  statusLabel: string | null;
  /** The duration of the step; null while the step has not ended. */
  took: string | null;
  attempt: number;
  /** Whether the outcome of the step differs in the compared run. */
  differs?: boolean;
  problems: number;
  disabled: boolean;
  gated: boolean;
  /** Whether the step has a pinned result, and tests use it instead of executing the step. */
  pinned?: boolean;
  /** A line about what the step does; null if the type says enough. */
  summary: string | null;
  /** The number of steps in a loop; null if the step is not a loop. */
  inner: number | null;
};

/** The ring and the soft fill of a status. */
const rings: Record<string, string> = {
  neutral: 'border-line-strong/60 bg-surface',
  accent: 'border-accent bg-accent-soft ring-1 ring-accent',
  ok: 'border-ok bg-ok-soft ring-1 ring-ok',
  warn: 'border-warn bg-warn-soft ring-1 ring-warn',
  bad: 'border-bad bg-bad-soft ring-1 ring-bad',
  info: 'border-info bg-info-soft ring-1 ring-info',
};
const text: Record<string, string> = {
  neutral: 'text-muted',
  accent: 'text-accent-text',
  ok: 'text-ok',
  warn: 'text-warn',
  bad: 'text-bad',
  info: 'text-info',
};
/** Statuses that ring and icon show. The line below the name then still describes the step. */
const PLAIN_STATUSES: readonly string[] = ['pending', 'ready', 'completed'];

/** A step at a low zoom, at which no text is readable: only its icon. */
export const farTile =
  'group-data-[detail=far]/graph:size-12 group-data-[detail=far]/graph:[&>svg]:size-9 group-data-[detail=far]/graph:rounded-lg';
const farIcon = 'group-data-[detail=far]/graph:size-10';
const notFar = 'group-data-[detail=far]/graph:hidden';

/** Returns the ring and the soft fill of a step by its problems and its status. */
export function ringOf(data: StepNodeData): string | undefined {
  const look = data.status === null ? null : statusLook('step', data.status);
  return rings[data.problems > 0 ? 'bad' : (look?.tone ?? 'neutral')];
}

type StepCardProps = { id: string; data: StepNodeData; selected: boolean; found?: boolean };

/** The content of a node, without the handles of its edges. */
export function StepCard({ id, data, selected, found = false }: StepCardProps) {
  const isQuiet = data.disabled || data.status === 'skipped' || data.status === 'pending';
  const isDashed = isQuiet || data.status === 'added' || data.status === 'removed';
  return (
    <div
      style={{ width: nodeSize.width, height: nodeSize.height }}
      data-step={id}
      data-status={data.status ?? undefined}
      data-disabled={data.disabled || undefined}
      className={cx(
        'flex items-center gap-2.5 rounded-lg border px-3 transition-colors',
        ringOf(data),
        // Disabled steps and steps that a proposal removes are pale, with the contrast of normal text.
        data.disabled || data.status === 'removed' ? 'bg-sunken!' : 'shadow-sm',
        'group-data-[detail=far]/graph:gap-3 group-data-[detail=far]/graph:border-2',
        selected && 'ring-2 ring-accent!',
        found && !selected && 'ring-2 ring-warn',
        isDashed && 'border-dashed ring-0',
        isDashed && selected && 'ring-2',
      )}
    >
      <StepTile type={data.type} size="lg" struck={data.disabled} className={farTile} />
      <div className={cx('min-w-0 flex-1', notFar)}>
        <p
          className={cx(
            'truncate text-sm font-medium',
            data.disabled && 'text-muted',
            data.status === 'removed' && 'text-muted line-through',
          )}
        >
          {data.title}
        </p>
        <SecondLine data={data} />
      </div>
      {data.pinned ? <Pin aria-hidden className={cx('size-3.5 shrink-0 text-accent-text', notFar)} /> : null}
      <StepSign data={data} />
    </div>
  );
}

/** The line below the name: a problem or a status, else the description of the step. */
export function SecondLine({ data }: { data: StepNodeData }) {
  const look = data.status === null ? null : statusLook('step', data.status);
  const status = look !== null && !PLAIN_STATUSES.includes(data.status ?? '') ? (data.statusLabel ?? look.label) : null;
  return (
    <p className="flex items-center gap-1 text-xs text-muted group-data-[detail=middle]/graph:hidden">
      <span className={cx('truncate', look && status !== null && text[look.tone], data.problems > 0 && 'text-bad')}>
        {status ?? note(data) ?? data.summary ?? stepTypeLook(data.type).label}
      </span>
      {status === null && data.took !== null ? (
        <span className="ml-auto shrink-0 tabular-nums">{data.took}</span>
      ) : null}
      {data.inner !== null ? <span className="ml-auto shrink-0 tabular-nums">{stepCount(data.inner)}</span> : null}
      {data.attempt > 1 && data.inner === null ? (
        <span className="ml-auto shrink-0 tabular-nums">attempt {data.attempt}</span>
      ) : null}
    </p>
  );
}

/** The icon of a step's problems or of its status. */
export function StepSign({ data }: { data: StepNodeData }) {
  if (data.problems > 0) return <CircleAlert aria-hidden className={cx('size-4 shrink-0 text-bad', farIcon)} />;
  if (data.status === null) return null;
  const look = statusLook('step', data.status);
  const Icon = look.icon;
  return (
    <>
      {data.differs ? <DiffersMark /> : null}
      <Icon
        aria-hidden
        className={cx('size-4 shrink-0', text[look.tone], farIcon, look.live && 'animate-pulse-soft')}
      />
    </>
  );
}

/** Marks a step whose outcome differs in the compared run. */
export const DiffersMark = () => (
  <span
    aria-hidden
    title="Differs from the other run"
    className="shrink-0 rounded-sm bg-warn-soft px-1 text-sm font-semibold text-warn group-data-[detail=far]/graph:text-4xl"
  >
    ≠
  </span>
);

const stepCount = (count: number) => (count === 1 ? '1 step' : `${count} steps`);

function note(data: StepNodeData): string | null {
  if (data.problems > 0) return data.problems === 1 ? '1 problem' : `${data.problems} problems`;
  if (data.disabled) return 'Disabled';
  return data.gated ? 'Only when started by name' : data.pinned ? 'Pinned result' : null;
}
