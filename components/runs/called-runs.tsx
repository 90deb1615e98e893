'use client';
import { useState } from 'react';
import { isAddedStep, type RunState, type StepState } from '@/server/domains/runs/reading/run-state.ts';
import { type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';
import { ShowMore } from '../ui/pager.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { StatusBadge, shownStatus } from '../ui/status-badge.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useCursorPages } from '../ui/use-cursor-pages.ts';
import { Part, type Ref } from './run-values.tsx';
import { NamedStep } from './step-names.tsx';

type Call = Outputs['runs_list_called']['called_runs'][number];

/** More links would push the rest of the step out of view. */
const MAX_SHOWN = 20;
/** The polling interval for active called runs. */
const REFRESH_MS = 3_000;

type Props = Ref & { state: RunState; step: StepState; spec: StepSpec };
type StepSpec = { type: string; steps?: unknown };

/**
 * Links to the runs that a step has called, including the runs of retries. For a loop, the list has the runs that its steps called:
 * only active runs while the loop is active, and all runs once the loop has ended.
 */
export function CalledRuns({ workflowId, runId, state, step, spec }: Props) {
  const [all, setAll] = useState(false);
  const minAttempts = spec.type === 'for_each' ? 1 : 2;
  if (!callsWorkflows(spec) || step.attempts.length < minAttempts) return null;
  if (all || step.endedAt !== null)
    return <AllCalls workflowId={workflowId} runId={runId} step={step.id} ended={step.endedAt !== null} />;
  return (
    <>
      <ActiveCalls state={state} step={step.id} />
      <Button size="sm" className="self-start" onClick={() => setAll(true)}>
        Show all called runs
      </Button>
    </>
  );
}

/** Returns whether the step, or a step that it may add to the run, calls a workflow. */
function callsWorkflows({ type, steps }: StepSpec): boolean {
  if (type !== 'for_each') return type === 'call_workflow';
  return Array.isArray(steps) && steps.some((inner: StepSpec) => callsWorkflows(inner));
}

function ActiveCalls({ state, step }: { state: RunState; step: string }) {
  const calls = [...state.steps.values()].flatMap(({ id, endedAt, childRun }) =>
    isAddedStep(id) && id.startsWith(`${step}.`) && endedAt === null && childRun !== null ? [{ id, ...childRun }] : [],
  );
  if (calls.length === 0) return null;
  const more = calls.length - MAX_SHOWN;
  return (
    <Part title={calls.length === 1 ? '1 called run in progress' : `${calls.length} called runs in progress`}>
      <ul className="flex flex-col gap-1">
        {calls.slice(0, MAX_SHOWN).map(({ id, workflow_id, run_id }) => (
          <li key={id} className="text-sm">
            <Link href={`/workflows/${workflow_id}/runs/${run_id}`} className={linkLook}>
              Run called by <NamedStep id={id} />
            </Link>
          </li>
        ))}
      </ul>
      {more > 0 ? <p className="text-xs text-muted">and {more} more</p> : null}
    </Part>
  );
}

const linkLook = 'underline underline-offset-2 hover:text-accent-text';

/** Reads the calls from the log, because the state of the run does not keep ended steps of a loop. */
function AllCalls({ workflowId, runId, step, ended }: Ref & { step: string; ended: boolean }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const input = { id: workflowId, runID: runId, step_id: step, limit: MAX_SHOWN };
  const list = useCursorPages(
    [...trpc.runs_list_called.queryKey(input), 'pages', ended],
    from => client.runs_list_called.query({ ...input, ...from }),
    // A detached run outlives its step, and the record of a quick run is updated with a delay.
    pages => (!ended || pages.some(page => page.called_runs.some(isUnderWay)) ? REFRESH_MS : false),
  );
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isPending) return <Skeleton className="h-16 w-full" />;
  const calls = list.data.pages.flatMap(page => page.called_runs);
  if (calls.length === 0) return null;
  return (
    <Part title="Called runs">
      <ul aria-label="Called runs" className="flex flex-col gap-1">
        {calls.map(each => (
          <li key={each.run_id} className="flex items-center justify-between gap-2 text-sm">
            <CalledRun call={each} ended={ended} />
          </li>
        ))}
      </ul>
      <ShowMore list={list} className="self-start">
        Show more called runs
      </ShowMore>
    </Part>
  );
}

const isUnderWay = ({ run }: Call): boolean => run !== null && !run.run_complete;

function CalledRun({ call: { step_id, attempt, run_id, workflow_id, run }, ended }: { call: Call; ended: boolean }) {
  const caller = (
    <>
      <NamedStep id={step_id} />
      {attempt > 1 ? `, attempt ${attempt}` : ''}
    </>
  );
  if (run === null)
    return (
      <>
        <span className="min-w-0 truncate">{caller}</span>
        <span className="text-xs text-muted">{ended ? 'Deleted' : 'Not started'}</span>
      </>
    );
  return (
    <>
      <span className="flex min-w-0 flex-col">
        <Link href={`/workflows/${workflow_id}/runs/${run_id}`} title={run_id} className={`truncate ${linkLook}`}>
          {run.workflow_name}, <RelativeTime at={run.started_at} />
        </Link>
        <span className="truncate text-xs text-muted">Called by {caller}</span>
      </span>
      <StatusBadge kind="run" status={shownStatus(run)} />
    </>
  );
}
