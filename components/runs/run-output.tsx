'use client';
import { useQuery } from '@tanstack/react-query';
import { PackageOpen } from 'lucide-react';
import { isTerminal, type RunState } from '@/server/domains/runs/reading/run-state.ts';
import type { Json } from '@/server/platform/json.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { stepPath } from '../ui/json-path.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { dependenciesOf } from './outcome.ts';
import type { Steps } from './run-graph.tsx';
import { LargeValue, Part, type Ref } from './run-values.tsx';

/** The maximum number of shown results. The others can be opened through their steps. */
const MAX_SHOWN = 20;

type OutputProps = Ref & { steps: Steps; state: RunState; hasTemplate: boolean };

/** Shows the output of a run: the workflow's `output`, or else the results of the steps that no step depends on. */
export function RunOutput({ hasTemplate, ...props }: OutputProps) {
  return hasTemplate ? <TemplateOutput {...props} /> : <LastResults {...props} />;
}

function TemplateOutput({ workflowId, runId, state }: Omit<OutputProps, 'hasTemplate'>) {
  const trpc = useTRPC();
  const read = useQuery(
    trpc.runs_get_summary.queryOptions(
      { id: workflowId, runID: runId },
      {
        enabled: state.status === 'completed',
        // Another part of the console may have read the summary before the run ended.
        staleTime: query => (query.state.data?.run_complete ? Number.POSITIVE_INFINITY : 0),
      },
    ),
  );
  if (state.status !== 'completed')
    return (
      <div className="rounded-lg border bg-surface">
        <EmptyState icon={PackageOpen} title="No output">
          {isTerminal(state.status)
            ? 'Only completed runs have an output. Select a step to see its result.'
            : 'The output appears here when the run completes.'}
        </EmptyState>
      </div>
    );
  if (read.isError) return <ErrorState error={read.error} onRetry={() => void read.refetch()} />;
  if (!read.data?.run_complete) return <Skeleton className="h-24 w-full" />;
  const { output, output_error } = read.data;
  if (output_error)
    return (
      <div className="rounded-lg border bg-surface">
        <EmptyState icon={PackageOpen} title="The output could not be computed">
          {output_error.message}
        </EmptyState>
      </div>
    );
  return (
    <Part title="Output" level={2}>
      <JsonTree label="Output" value={output as Json} />
    </Part>
  );
}

function LastResults({ steps, state, ...ref }: Omit<OutputProps, 'hasTemplate'>) {
  const dependencies = new Set(steps.flatMap(dependenciesOf));
  const last = steps.filter(({ id }) => !dependencies.has(id) && state.steps.get(id)?.status === 'completed');
  if (last.length === 0)
    return (
      <div className="rounded-lg border bg-surface">
        <EmptyState icon={PackageOpen} title="No output">
          {isTerminal(state.status)
            ? 'None of the last steps completed. Select an earlier step to see its result.'
            : 'The results of the last steps appear here when they complete.'}
        </EmptyState>
      </div>
    );
  return (
    <div className="flex flex-col gap-4">
      {last.slice(0, MAX_SHOWN).map(step => (
        <StepResult
          key={step.id}
          {...ref}
          step={step.id}
          title={last.length === 1 ? 'Output' : `Output of ${step.name || step.id}`}
        />
      ))}
      {last.length > MAX_SHOWN ? (
        <p className="text-sm text-muted">and the results of {last.length - MAX_SHOWN} more steps</p>
      ) : null}
    </div>
  );
}

type StepResultProps = Ref & { step: string; title: string; level?: 2 | 3 };

/** The result of a step that has completed. */
export function StepResult({ workflowId, runId, step, title, level = 2 }: StepResultProps) {
  const trpc = useTRPC();
  const read = useQuery(
    trpc.runs_get_step.queryOptions(
      { id: workflowId, runID: runId, step_id: step },
      { staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  if (read.isError) return <ErrorState error={read.error} onRetry={() => void read.refetch()} />;
  if (read.isPending) return <Skeleton className="h-24 w-full" />;
  const { result, result_ref } = read.data;
  if (result_ref)
    return <LargeValue workflowId={workflowId} runId={runId} title={title} reference={result_ref} level={level} />;
  return (
    <Part title={title} level={level}>
      <JsonTree label={title} value={result as Json} root={stepPath(step, 'result')} />
    </Part>
  );
}
