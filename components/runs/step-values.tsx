'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { StepError, StepState, WireEvent } from '@/server/domains/runs/reading/run-state.ts';
import type { Json } from '@/server/platform/json.ts';
import { useSession } from '../session/session.tsx';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { stepPath } from '../ui/json-path.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { Link } from '../ui/link.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { INSUFFICIENT_CREDITS } from './credit-shortage.tsx';
import { FailedScript } from './failed-script.tsx';
import { scriptError } from './failure-text.ts';
import { LargeValue, Part, type Ref } from './run-values.tsx';
import { useStepEvents } from './use-events.ts';
import type { LiveRun } from './use-run.ts';

/** Returns the name of a value for screen readers. `of` names the item of a loop that the value belongs to. */
const labelOf = (title: string, of: string | undefined): string => (of === undefined ? title : `${title} of ${of}`);

type FailureProps = { error: StepError; spec: { id: string; script?: unknown }; of?: string };

/** Shows the error of a step with its details. A script error is shown at its line. */
export function StepFailure({ error, spec, of }: FailureProps) {
  const { billing } = useSession().me;
  const { script } = spec;
  const inScript = typeof script === 'string' ? scriptError(error.message) : null;
  return (
    <div className="flex flex-col gap-2">
      <div
        role="alert"
        className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad"
      >
        <p className="whitespace-pre-wrap">{inScript ? `Line ${inScript.line}: ${inScript.text}` : error.message}</p>
        <p className="mt-1 font-mono text-xs">{error.code}</p>
        {error.code === INSUFFICIENT_CREDITS && billing === 'on' ? (
          <Link href="/billing" className="mt-1 inline-block font-medium underline underline-offset-2">
            Go to billing
          </Link>
        ) : null}
      </div>
      {inScript ? <FailedScript script={String(script)} error={inScript} /> : null}
      {error.details === undefined || error.details === null ? null : (
        <Part title="Error details">
          <JsonTree
            label={labelOf('Error details', of)}
            value={error.details}
            root={`${stepPath(spec.id, 'error')}.details`}
          />
        </Part>
      )}
    </div>
  );
}

const unchanged = (path: string) => path;

type StepToRead = Pick<StepState, 'id' | 'status'> & { attempts: readonly unknown[] };

/** Reads a step of a run, including its input values and its result. */
export function useStepInRun({ workflowId, runId, step }: Ref & { step: StepToRead }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const input = { id: workflowId, runID: runId, step_id: step.id };
  return useQuery({
    // Input values and result change only with the state of the step.
    queryKey: [...trpc.runs_get_step.queryKey(input), step.status, step.attempts.length],
    queryFn: ({ signal }) => client.runs_get_step.query(input, { signal }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

type ValuesProps = Ref & {
  step: StepToRead;
  of?: string;
  /** Which value to show, if the page shows input and result in different places. */
  part?: 'input' | 'result' | undefined;
};

/** Shows the input that the step read and the result that it returned. */
export function StepValues({ workflowId, runId, step, of, part }: ValuesProps) {
  const read = useStepInRun({ workflowId, runId, step });
  if (read.isError) return <ErrorState error={read.error} onRetry={() => void read.refetch()} />;
  if (read.isPending) return <Skeleton className="h-20 w-full" />;
  const { resolved, has_result, result, result_ref } = read.data;
  const values = resolved.filter(each => each.problem === null).map(({ name, value }) => [name, value] as const);
  const problems = resolved.filter(each => each.problem !== null);
  return (
    <>
      {part === 'input' && resolved.length === 0 ? (
        <p className="text-sm text-muted">The step reads no values.</p>
      ) : null}
      {part !== 'result' && resolved.length > 0 ? (
        <Part title="Resolved input">
          {values.length > 0 ? (
            <JsonTree
              label={labelOf('Resolved input', of)}
              value={Object.fromEntries(values) as Json}
              pathOf={unchanged}
            />
          ) : null}
          {problems.map(({ name, problem }) => (
            <p key={name} className="text-xs wrap-anywhere text-muted">
              <code>{name}</code>: {problem}
            </p>
          ))}
        </Part>
      ) : null}
      {part !== 'input' && result_ref ? (
        <LargeValue workflowId={workflowId} runId={runId} title="Result" reference={result_ref} />
      ) : null}
      {part !== 'input' && has_result && !result_ref ? (
        <Part title="Result">
          <JsonTree label={labelOf('Result', of)} value={result as Json} root={stepPath(step.id, 'result')} />
        </Part>
      ) : null}
    </>
  );
}

/** Shows what a step has logged. */
export function StepLog({ live, step, of, ...ref }: Ref & { live: LiveRun; step: string; of?: string }) {
  const events = useStepEvents(ref, live, step);
  const lines = events.all.flatMap(logLines);
  if (events.error) return <ErrorState error={events.error} onRetry={events.retry} />;
  if (lines.length === 0 && !events.more) return null;
  return (
    <Part title="Log">
      <ScrollRegion label={labelOf('Log', of)} className="max-h-60 overflow-auto rounded-md border bg-sunken p-2">
        <pre className="text-xs whitespace-pre-wrap">{lines.join('\n')}</pre>
      </ScrollRegion>
      {events.more ? (
        <Button size="sm" className="self-start" onClick={events.loadMore}>
          Show more of the log
        </Button>
      ) : null}
    </Part>
  );
}

function logLines(event: WireEvent): string[] {
  const { lines } = event.data;
  return event.event_type === 'step_log' && Array.isArray(lines) ? lines.map(String) : [];
}
