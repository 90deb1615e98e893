'use client';
import { CircleCheck, CircleDashed, CircleX, type LucideIcon } from 'lucide-react';
import { use } from 'react';
import { NamedStep, StepNames } from '../../../runs/step-names.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { cx } from '../../../ui/classes.ts';
import { Link } from '../../../ui/link.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { describeCheck, effectLabels, type Trial, verdictLooks } from '../proposal.ts';

type Result = Trial['checks'][number]['result'];
const checkIcons: Record<Result, { icon: LucideIcon; label: string; tone: string }> = {
  proven: { icon: CircleCheck, label: 'Proven', tone: 'text-ok' },
  simulated: { icon: CircleDashed, label: 'Simulated', tone: 'text-info' },
  failed: { icon: CircleX, label: 'Failed', tone: 'text-bad' },
};

/** Shows a trial: the status of its run, the results of its checks, and its stand-ins. */
export function Checklist({ trial, workflowId }: { trial: Trial; workflowId: string | null }) {
  const { verdict, checks, stand_ins: standIns, live, current, from_run: fromRun } = trial;
  const look = verdict === null ? null : verdictLooks[verdict];
  return (
    <div className="flex flex-col gap-2">
      <p role="status" className="flex flex-wrap items-center gap-2 text-xs text-muted">
        {look === null ? (
          <StatusBadge kind="run" status={trial.run_status ?? 'running'} />
        ) : (
          <Badge tone={look.tone}>{look.label}</Badge>
        )}
        {live === null ? null : <Badge>For real</Badge>}
        <RelativeTime at={trial.started_at} />
        {trial.run_status === null ? null : (
          <Link className="underline underline-offset-2" href={`/workflows/${trial.workflow_id}/runs/${trial.run_id}`}>
            Its run
          </Link>
        )}
      </p>
      {look === null ? null : <p className="text-xs text-muted">{look.what}</p>}
      {verdict === 'failed' && trial.run_status === 'stopped' && live !== null ? (
        <p className="text-xs text-warn">The run was stopped, or it exceeded its budget.</p>
      ) : null}
      {fromRun === null ? null : (
        <p className="text-xs text-muted">
          With the data of{' '}
          <Link className="underline underline-offset-2" href={`/workflows/${workflowId}/runs/${fromRun}`}>
            a run
          </Link>
          , from {trial.from_step === null ? '' : <NamedStep id={trial.from_step} />} on.
        </p>
      )}
      {current ? null : <p className="text-xs text-warn">The proposal has been edited since this trial.</p>}
      {checks.length > 0 ? (
        <ul aria-label="Checks" className="flex flex-col gap-1">
          {checks.map((check, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a check is identified by its position
            <CheckLine key={index} check={check} />
          ))}
        </ul>
      ) : null}
      {live !== null && live.executed.length > 0 ? (
        <p className="text-xs wrap-anywhere text-muted">
          {verdict === null ? 'Will be executed' : 'Executed'} for real:{' '}
          {[...new Set(live.executed.map(({ step }) => step))].map((step, index) => (
            <span key={step}>
              {index > 0 ? ', ' : ''}
              <span className="text-text">
                <NamedStep id={step} />
              </span>
            </span>
          ))}
          .
        </p>
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
                <span className="text-text">
                  <NamedStep id={step} />
                </span>{' '}
                {effectLabels[why]}; its result is {source === 'recorded' ? 'that of an earlier run' : 'an example'}.
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </div>
  );
}

function CheckLine({ check }: { check: Trial['checks'][number] }) {
  const called = use(StepNames);
  const { icon: Icon, label, tone } = checkIcons[check.result];
  return (
    <li className="flex items-start gap-2 text-sm">
      <Icon aria-label={label} className={cx('mt-0.5 size-4 shrink-0', tone)} />
      <span title={check.step} className="min-w-0 wrap-anywhere">
        {describeCheck(check, called)}
        {check.reason === null ? null : <span className="block text-xs text-bad">{check.reason}</span>}
        {check.result === 'failed' && check.actual !== undefined ? (
          <code className="block text-xs text-muted">It is {JSON.stringify(check.actual)}</code>
        ) : null}
      </span>
    </li>
  );
}
