'use client';
import { useQuery } from '@tanstack/react-query';
import { FlaskConical, Zap } from 'lucide-react';
import { useState } from 'react';
import type { StepChange } from '../../../../server/domains/workflows/edits/index.ts';
import { usePermissions } from '../../../session/session.tsx';
import { useTRPC } from '../../../trpc/provider.tsx';
import { Button } from '../../../ui/button.tsx';
import { readError } from '../../../ui/errors.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { FormError } from '../../../ui/states.tsx';
import { isOpen, type Proposal, type Trial } from '../proposal.ts';
import { Checklist } from './checklist.tsx';
import { effectsOf } from './effects.ts';
import { TrialForm } from './trial-form.tsx';

const REFRESH_MS = 1_000;

type Props = { proposal: Proposal; changes: readonly StepChange[] };

/** Shows the last trial of a proposal as a checklist, and the forms that start a trial or a live trial. */
export function TrialSection({ proposal, changes }: Props) {
  const trpc = useTRPC();
  const [form, setForm] = useState<'simulated' | 'live' | null>(null);
  const { id, valid } = proposal;
  const trial = useQuery(
    trpc.autopilot_get_trial.queryOptions(
      { id },
      {
        // A trial that was just started exists before `proposal.tried` is read again.
        enabled: ({ state }) => proposal.tried || state.data !== undefined,
        refetchInterval: ({ state }) => (state.data?.verdict === null ? REFRESH_MS : false),
      },
    ),
  );
  // Retention may have removed the run of a closed proposal.
  const isNone = trial.isError ? readError(trial.error).status === 404 : !proposal.tried && !trial.data;
  const open = isOpen(proposal);
  return (
    <section aria-label="Trial" className="flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <h3 className="flex-1 text-sm font-semibold">Trial</h3>
        {open && form === null ? (
          <Button
            size="sm"
            icon={<FlaskConical aria-hidden className="size-3.5" />}
            disabled={!valid || (proposal.tried && trial.isPending)}
            title={valid ? undefined : 'It has errors. Fix them first, or ask the assistant to.'}
            onClick={() => setForm('simulated')}
          >
            Try
          </Button>
        ) : null}
      </div>
      {proposal.written_after_reading === null ? null : (
        <p className="text-xs text-muted">
          {readingLabel(proposal.written_after_reading)} A trial does not send requests that no one has reviewed. Such
          steps are replaced until a person executes them for real.
        </p>
      )}
      {form === null ? null : (
        <TrialForm
          key={form}
          proposal={proposal}
          changes={changes}
          last={trial.data}
          isLive={form === 'live'}
          onClose={() => setForm(null)}
        />
      )}
      {isNone ? (
        <p className="text-xs text-muted">
          Not tried yet. A trial does not write or send anything, or ask anyone. Steps that would do so are replaced.
        </p>
      ) : trial.data ? (
        <>
          <Checklist trial={trial.data} workflowId={proposal.workflow_id} />
          {open && valid && form === null ? <LiveTrialAction trial={trial.data} onTry={() => setForm('live')} /> : null}
        </>
      ) : trial.isError ? (
        <FormError error={trial.error} />
      ) : (
        <Skeleton className="h-16 w-full" />
      )}
    </section>
  );
}

/** Returns the reason why the proposal's requests need a review. */
function readingLabel(read: string): string {
  if (read === 'unknown') return 'An assistant wrote this. What it read beforehand is unknown.';
  return `A model wrote this after reading private text or text from outside (${read.replaceAll('_', ' ')}).`;
}

/**
 * The button that opens the form for a live trial, or the reason why a live trial is not possible; renders nothing if
 * no step was replaced.
 */
function LiveTrialAction({ trial, onTry }: { trial: Trial; onTry: () => void }) {
  const { canWrite } = usePermissions();
  if (effectsOf(trial).size === 0 || trial.verdict === null) return null;
  if (!canWrite)
    return <p className="text-xs text-muted">You need the contributor role to execute the replaced steps for real.</p>;
  if (!trial.current)
    return <p className="text-xs text-muted">Try it again before you execute the replaced steps for real.</p>;
  return (
    <Button
      size="sm"
      className="self-start"
      icon={<Zap aria-hidden className="size-3.5" />}
      title="Executes the replaced steps that you select"
      onClick={onTry}
    >
      Try for real…
    </Button>
  );
}
