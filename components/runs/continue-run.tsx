'use client';
import { Play, Wrench, X } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTRPCClient } from '../trpc/provider.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { StepName, stepNames } from './step-names.tsx';

/** The page of a workflow's draft, on which a step of a run is edited and the run then continued from it. */
export const continueHref = (workflowId: string, runId: string, step: string): string =>
  `/workflows/${workflowId}?${new URLSearchParams({ step, continue: runId, from: step }).toString()}`;

type Props = {
  workflowId: string;
  /** The steps of the draft. */
  steps: readonly { id: string; name?: unknown }[];
  /** Saves the draft; resolves to `saved` once the server has the draft as it is shown. */
  save: () => Promise<{ kind: string }>;
};

/** Offers to continue a run with the draft, if the draft was opened to repair that run. */
export function ContinueRun({ workflowId, steps, save }: Props) {
  const url = useUrlState();
  // Uses the tRPC client, because a mutation of React Query would load more code.
  const client = useTRPCClient();
  const router = useRouter();
  const [pending, setPending] = useState(false);
  const runId = url.get('continue');
  const step = url.get('from');
  if (runId === '' || step === '') return null;
  const start = async () => {
    setPending(true);
    try {
      const { kind } = await save();
      if (kind !== 'saved') {
        toast.error('The draft is not saved. Fix the problem shown in its status, then try again.');
        return;
      }
      const started = await client.runs_rerun.mutate({
        id: workflowId,
        runID: runId,
        from_step: step,
        version: 'draft',
      });
      toast.success('Continued as a new run.');
      router.push(`/workflows/${workflowId}/runs/${started.run_id}`);
    } catch (error) {
      toastError(error);
    } finally {
      setPending(false);
    }
  };
  return (
    <section
      aria-label="Continue a run"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-accent/40 bg-accent-soft px-3 py-2 text-sm"
    >
      <Wrench aria-hidden className="size-4 shrink-0 text-accent-text" />
      <p className="min-w-60 flex-1">
        Edit <StepName id={step} name={stepNames(steps)(step)} />, then run the draft from there. Steps that you leave
        unchanged keep the results of{' '}
        <Link className="underline underline-offset-2" href={`/workflows/${workflowId}/runs/${runId}`}>
          the run
        </Link>
        .
      </p>
      <Button
        size="sm"
        variant="primary"
        icon={<Play aria-hidden className="size-3.5" />}
        pending={pending}
        onClick={() => void start()}
      >
        Run again from here
      </Button>
      <IconButton
        label="Edit without continuing the run"
        size="sm"
        onClick={() => url.set({ continue: undefined, from: undefined })}
      >
        <X aria-hidden className="size-4" />
      </IconButton>
    </section>
  );
}
