'use client';
import { useMutation } from '@tanstack/react-query';
import { ChevronDown, Pause, Play, RotateCcw, Square, Wrench } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { use, useState } from 'react';
import { isTerminal } from '@/server/domains/runs/reading/run-state.ts';
import type { RunStatus } from '@/server/orchestrator/core/events.ts';
import { addedId, agentStepType, rootOf, turnId } from '@/server/orchestrator/core/step-ids.ts';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { continueHref } from './continue-run.tsx';
import { type Called, StepNames } from './step-names.tsx';

type Props = {
  workflowId: string;
  runId: string;
  status: RunStatus | null;
  /** A graceful stop is in progress. */
  stopping: boolean;
  /** The step selected on the page: a rerun can start there. */
  selected: string | null;
  /** The step that failed the run. */
  failedStep: string | null;
};

/** Pause, resume, stop and rerun: the actions that the run's state and the user's role allow. */
export function RunActions({ workflowId, runId, status, stopping, selected, failedStep }: Props) {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const [confirming, setConfirming] = useState(false);
  const command = useMutation(trpc.workflows_execute_command.mutationOptions({ onError: toastError }));
  if (!canWrite || status === null) return null;
  const send = (name: 'pause' | 'resume' | 'stop', params: Record<string, string> = {}) =>
    command.mutateAsync({ id: workflowId, command: name, params: { run_id: runId, ...params } });
  const busy = (name: string) => command.isPending && command.variables.command === name;

  if (isTerminal(status))
    return <RerunButton workflowId={workflowId} runId={runId} selected={selected} failedStep={failedStep} />;
  return (
    <>
      {status === 'running' ? (
        <Button
          icon={<Pause aria-hidden className="size-3.5" />}
          pending={busy('pause')}
          disabled={stopping}
          onClick={() => void send('pause').catch(() => undefined)}
        >
          Pause
        </Button>
      ) : (
        <Button
          variant="primary"
          icon={<Play aria-hidden className="size-3.5" />}
          pending={busy('resume')}
          disabled={stopping}
          onClick={() => void send('resume').catch(() => undefined)}
        >
          Resume
        </Button>
      )}
      <Menu
        trigger={
          <Button variant="danger" icon={<Square aria-hidden className="size-3.5" />} pending={busy('stop')}>
            Stop
            <ChevronDown aria-hidden className="size-3.5" />
          </Button>
        }
      >
        <MenuItem disabled={stopping} onSelect={() => void send('stop', { mode: 'graceful' }).catch(() => undefined)}>
          Stop after running steps finish
        </MenuItem>
        <MenuItem danger onSelect={() => setConfirming(true)}>
          Stop now
        </MenuItem>
      </Menu>
      <Confirm
        open={confirming}
        onOpenChange={setConfirming}
        title="Stop this run now?"
        action="Stop now"
        pending={busy('stop')}
        onConfirm={() =>
          void send('stop', { mode: 'immediate' }).then(
            () => setConfirming(false),
            () => setConfirming(false),
          )
        }
      >
        Running steps are cancelled and open tasks are withdrawn. A stopped run cannot be resumed.
      </Confirm>
    </>
  );
}

/** Returns the step from which a rerun can start: a turn of an agent, or a step of the graph. */
function rerunStart(selected: string, called: Called): { step: string; name: string } {
  const id = addedId(selected);
  const root = rootOf(selected);
  const type = agentStepType(selected);
  if (id === null || id.parent !== root || type === null || type === 'agent_compaction')
    return { step: root, name: `“${called(root)}”` };
  return { step: turnId(root, id.index), name: `turn ${id.index} of “${called(root)}”` };
}

type RerunProps = Pick<Props, 'workflowId' | 'runId' | 'selected' | 'failedStep'>;

/** Repeats a run with the same input: from the start, or from the selected step with the run's version or the latest version. */
function RerunButton({ workflowId, runId, selected, failedStep }: RerunProps) {
  const trpc = useTRPC();
  const router = useRouter();
  const rerun = useMutation(
    trpc.runs_rerun.mutationOptions({
      onSuccess: started => {
        toast.success('A new run has started.');
        router.push(`/workflows/${workflowId}/runs/${started.run_id}`);
      },
      onError: toastError,
    }),
  );
  const start = (from: { from_step?: string; version?: 'latest' } = {}) =>
    rerun.mutate({ id: workflowId, runID: runId, ...from });
  const icon = <RotateCcw aria-hidden className="size-3.5" />;
  const called = use(StepNames);
  const from = selected === null ? null : rerunStart(selected, called);
  return (
    <>
      {from === null ? (
        <Button icon={icon} pending={rerun.isPending} onClick={() => start()}>
          Run again
        </Button>
      ) : (
        <Menu
          trigger={
            <Button icon={icon} pending={rerun.isPending}>
              Run again
              <ChevronDown aria-hidden className="size-3.5" />
            </Button>
          }
        >
          <MenuItem onSelect={() => start()}>From the beginning, with the same input</MenuItem>
          <MenuItem onSelect={() => start({ from_step: from.step })}>
            From {from.name}, with this run’s earlier results
          </MenuItem>
          <MenuItem onSelect={() => start({ from_step: from.step, version: 'latest' })}>
            From {from.name}, with the latest version
          </MenuItem>
        </Menu>
      )}
      {failedStep === null ? null : (
        <ButtonLink
          variant="primary"
          icon={<Wrench aria-hidden className="size-3.5" />}
          href={continueHref(workflowId, runId, failedStep)}
        >
          Edit and run again from here
        </ButtonLink>
      )}
    </>
  );
}
