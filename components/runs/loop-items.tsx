'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { cx } from '../ui/classes.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Duration } from '../ui/time.tsx';
import { ItemSwitcher } from './item-switcher.tsx';
import { placeIn } from './loop-place.ts';
import { Part, type Ref } from './run-values.tsx';
import { StepFailure, StepLog, StepValues } from './step-values.tsx';
import type { LiveRun } from './use-run.ts';

type Items = Outputs['runs_get_loop_items'];
type ItemStep = Items['items'][number]['steps'][number];
type Loop = { id: string; steps?: unknown };
type InnerSpec = { id: string; type: string; name?: string; script?: unknown; steps?: unknown };

/** How often the items of an active loop are read. */
const REFRESH_MS = 3_000;

type Props = Ref & {
  live: LiveRun;
  /** The loop, by its id in the run. */
  loop: Loop;
  ended: boolean;
  /** The id of the selected step. It determines the shown item and the opened step. */
  selected: string | null;
  onSelect: (step: string) => void;
};

/** Shows how many items of a loop ran and failed, and the steps of one item at a time. */
export function LoopItems({ live, loop, ended, selected, onSelect, ...ref }: Props) {
  const trpc = useTRPC();
  const place = placeIn(loop.id, selected);
  const index = place?.index ?? 0;
  const read = useQuery(
    trpc.runs_get_loop_items.queryOptions(
      { id: ref.workflowId, runID: ref.runId, step_id: loop.id, from: index, limit: 1 },
      {
        placeholderData: keepPreviousData,
        staleTime: ended ? 10_000 : 0,
        refetchInterval: ended ? false : REFRESH_MS,
      },
    ),
  );
  if (read.isError) return <ErrorState error={read.error} onRetry={() => void read.refetch()} />;
  if (read.isPending) return <Skeleton className="h-24 w-full" />;
  const { total, items } = read.data;
  if (total === null || total === 0) return null;
  // While an item is loading, the query still returns the previous item.
  const item = items.find(each => each.index === index);
  const goToItem = (to: number) => onSelect(`${loop.id}.${to}${place?.name ? `.${place.name}` : ''}`);
  return (
    <Part title="Items">
      <ItemSwitcher found={read.data} index={index} onGo={goToItem} />
      {item === undefined && read.isPlaceholderData ? (
        <Skeleton className="h-16 w-full" />
      ) : item === undefined ? (
        <p className="text-sm text-muted">The loop has no item {(index + 1).toLocaleString()}.</p>
      ) : item.steps.length === 0 ? (
        <p className="text-sm text-muted">This item has not started yet.</p>
      ) : (
        <ul aria-label={`Steps of item ${index + 1}`} className="overflow-hidden rounded-md border">
          {item.steps.map(step => (
            <li key={step.step_id} className="border-b last:border-b-0">
              <ItemStepRow
                {...ref}
                live={live}
                step={step}
                spec={specOf(loop, step.step_id)}
                open={place?.name === nameOf(step.step_id)}
                selected={selected}
                onSelect={onSelect}
                onToggle={open => onSelect(open ? step.step_id : `${loop.id}.${index}`)}
              />
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}

type RowProps = Omit<Props, 'loop' | 'ended'> & {
  step: ItemStep;
  spec: InnerSpec | null;
  open: boolean;
  onToggle: (open: boolean) => void;
};

function ItemStepRow({ step, spec, open, onToggle, ...props }: RowProps) {
  const [first] = step.attempts;
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => onToggle(!open)}
        className={cx(
          'flex w-full items-center gap-2 px-3 py-1.5 text-left text-sm hover:bg-hover',
          open && 'bg-accent-soft',
        )}
      >
        <ChevronDown aria-hidden className={cx('size-3.5 shrink-0 text-muted', !open && '-rotate-90')} />
        <span className="min-w-0 flex-1 truncate">{step.task_name || spec?.name || nameOf(step.step_id)}</span>
        {first === undefined ? null : (
          <Duration from={first.started_at} to={step.ended_at} className="shrink-0 text-xs text-muted tabular-nums" />
        )}
        <StatusBadge kind="step" status={step.status} detail={step.skip_reason} />
      </button>
      {open ? <Opened {...props} step={step} spec={spec} /> : null}
    </>
  );
}

function Opened({ live, step, spec, selected, onSelect, ...ref }: Omit<RowProps, 'open' | 'onToggle'>) {
  const id = step.step_id;
  return (
    <div className="flex flex-col gap-3 border-t px-3 py-2">
      {step.error !== null && step.status !== 'completed' ? (
        <StepFailure error={step.error} spec={{ id, script: spec?.script }} of={id} />
      ) : null}
      {spec?.type === 'for_each' ? (
        <LoopItems
          {...ref}
          live={live}
          loop={{ id, steps: spec.steps }}
          ended={step.ended_at !== null}
          selected={selected}
          onSelect={onSelect}
        />
      ) : null}
      {step.attempts.length === 0 ? null : (
        <StepValues {...ref} step={{ id, status: step.status, attempts: step.attempts }} of={id} />
      )}
      <StepLog {...ref} live={live} step={id} of={id} />
    </div>
  );
}

const nameOf = (id: string): string => id.slice(id.lastIndexOf('.') + 1);

/** Returns the step of the graph that an added step is an instance of. */
function specOf({ steps }: Loop, id: string): InnerSpec | null {
  const inner: readonly InnerSpec[] = Array.isArray(steps) ? steps : [];
  return inner.find(step => step.id === nameOf(id)) ?? null;
}
