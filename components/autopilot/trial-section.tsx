'use client';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleDashed, CircleDot, CircleX, FlaskConical, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import type { StepChange } from '../../server/domains/workflows/edits/index.ts';
import { readError } from '../trpc/errors.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { Link } from '../ui/link.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { FormError } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { describeCheck, isOpen, type Proposal, type Trial, verdictLooks, whyReplaced } from './proposal.ts';
import { TrialForm } from './trial-form.tsx';

const REFRESH_MS = 1_000;

type Props = { proposal: Proposal; changes: readonly StepChange[] };

/** The last trial of a proposal as a checklist, and the form that starts one. */
export function TrialSection({ proposal, changes }: Props) {
  const trpc = useTRPC();
  const [trying, setTrying] = useState(false);
  const { id, valid } = proposal;
  const trial = useQuery(
    trpc.autopilot_get_trial.queryOptions(
      { id },
      {
        // A trial that was just started is there before the proposal says so.
        enabled: ({ state }) => proposal.tried || state.data !== undefined,
        refetchInterval: ({ state }) => (state.data?.verdict === null ? REFRESH_MS : false),
      },
    ),
  );
  // Retention may have removed the run of a closed proposal.
  const isNone = trial.isError ? readError(trial.error).status === 404 : !proposal.tried && !trial.data;
  return (
    <section aria-label="Trial" className="flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <h3 className="flex-1 text-sm font-semibold">Trial</h3>
        {isOpen(proposal) && !trying ? (
          <Button
            size="sm"
            icon={<FlaskConical aria-hidden className="size-3.5" />}
            disabled={!valid}
            title={valid ? undefined : 'It has errors: the assistant, or you, must repair them first.'}
            onClick={() => setTrying(true)}
          >
            Try
          </Button>
        ) : null}
      </div>
      {trying ? <TrialForm proposal={proposal} changes={changes} onClose={() => setTrying(false)} /> : null}
      {isNone ? (
        <p className="text-xs text-muted">
          Not tried yet. A trial writes nothing, sends nothing and asks no one: the steps that would do so are replaced.
        </p>
      ) : trial.data ? (
        <Checklist trial={trial.data} />
      ) : trial.isError ? (
        <FormError error={trial.error} />
      ) : (
        <Skeleton className="h-16 w-full" />
      )}
    </section>
  );
}

type CheckState = 'proven' | 'simulated' | 'failed';
const checkIcons: Record<CheckState, { icon: LucideIcon; label: string; tone: string }> = {
  proven: { icon: CircleCheck, label: 'Proven', tone: 'text-ok' },
  simulated: { icon: CircleDashed, label: 'Simulated', tone: 'text-info' },
  failed: { icon: CircleX, label: 'Failed', tone: 'text-bad' },
};

function Checklist({ trial }: { trial: Trial }) {
  const { verdict, checks, stand_ins: standIns, current, workflow_id, run_id, run_status } = trial;
  const look = verdict === null ? null : verdictLooks[verdict];
  return (
    <div className="flex flex-col gap-2">
      <p role="status" className="flex flex-wrap items-center gap-2 text-xs text-muted">
        {look === null ? (
          <Badge tone="info" icon={<CircleDot aria-hidden className="size-3 animate-pulse-soft" />}>
            Running
          </Badge>
        ) : (
          <Badge tone={look.tone}>{look.label}</Badge>
        )}
        <RelativeTime at={trial.started_at} />
        {run_status === null ? null : (
          <Link className="underline underline-offset-2" href={`/workflows/${workflow_id}/runs/${run_id}`}>
            Its run
          </Link>
        )}
      </p>
      {look === null ? null : <p className="text-xs text-muted">{look.what}</p>}
      {current ? null : <p className="text-xs text-warn">The proposal has been edited since.</p>}
      {checks.length > 0 ? (
        <ul aria-label="Checks" className="flex flex-col gap-1">
          {checks.map((check, index) => {
            const { icon: Icon, label, tone } = checkIcons[check.result];
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: a check is its place
              <li key={index} className="flex items-start gap-2 text-sm">
                <Icon aria-label={label} className={cx('mt-0.5 size-4 shrink-0', tone)} />
                <span className="min-w-0 wrap-anywhere">
                  {describeCheck(check)}
                  {check.reason === null ? null : <span className="block text-xs text-bad">{check.reason}</span>}
                  {check.result === 'failed' && check.actual !== undefined ? (
                    <code className="block text-xs text-muted">It is {JSON.stringify(check.actual)}</code>
                  ) : null}
                </span>
              </li>
            );
          })}
        </ul>
      ) : null}
      {standIns.length > 0 ? (
        <details>
          <summary className="cursor-default text-xs text-accent-text">
            {standIns.length === 1 ? '1 step was replaced' : `${standIns.length} steps were replaced`}
          </summary>
          <ul aria-label="Replaced steps" className="mt-1 flex flex-col gap-1 text-xs text-muted">
            {standIns.map(({ step, why, source }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a loop stands there once for each of its steps
              <li key={index} className="wrap-anywhere">
                <code className="text-text">{step}</code> {whyReplaced[why]}; its result is{' '}
                {source === 'recorded' ? 'that of an earlier run' : 'an example'}.
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </div>
  );
}
