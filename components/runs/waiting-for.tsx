'use client';
import { Clock, Gauge, Inbox, type LucideIcon, Pause, RefreshCw, Workflow } from 'lucide-react';
import type { ReactNode } from 'react';
import type { RunState } from '@/server/domains/runs/reading/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { Link } from '../ui/link.tsx';
import { Duration, RelativeTime } from '../ui/time.tsx';
import { CreditShortage } from './credit-shortage.tsx';
import { type Awaited, awaitedBy } from './waiting-model.ts';

/** More lines would push the run out of view. The graph and the list of steps show all waiting steps. */
const MAX_SHOWN = 5;

const icons: Record<Awaited['kind'], LucideIcon> = {
  person: Inbox,
  timer: Clock,
  retry: RefreshCw,
  call: Workflow,
  limit: Gauge,
  credits: Gauge,
  budget: Gauge,
  pause: Pause,
};

type Props = {
  state: RunState;
  steps: readonly GraphStepInput[];
  runId: string;
  onSelect: (step: string) => void;
};

/** Shows what a run waits for: people, timers, called runs and limits. Renders nothing for a run that does not wait. */
export function WaitingFor({ state, steps, runId, onSelect }: Props) {
  const awaited = awaitedBy(state, steps);
  if (awaited.length === 0) return null;
  const shown = awaited.slice(0, MAX_SHOWN);
  return (
    <section aria-label="What it is waiting for" className="mb-4 rounded-lg border bg-surface px-3 py-2 shadow-sm">
      <h2 className="mb-1 text-xs font-medium text-muted">What it is waiting for</h2>
      <ul className="flex flex-col gap-1.5 text-sm">
        {shown.map(each => {
          const Icon = icons[each.kind];
          return (
            <li key={`${each.kind} ${each.id}`} className="flex min-w-0 items-center gap-2">
              {each.kind === 'credits' ? null : <Icon aria-hidden className="size-4 shrink-0 text-muted" />}
              <div className="min-w-0 flex-1">{sentence(each, runId, onSelect)}</div>
            </li>
          );
        })}
      </ul>
      {awaited.length > shown.length ? (
        <p className="mt-1 text-xs text-muted">and {(awaited.length - shown.length).toLocaleString()} more</p>
      ) : null}
    </section>
  );
}

const linkLook = 'underline underline-offset-2 hover:text-accent-text';
const iso = (at: number) => new Date(at).toISOString();

function sentence(each: Awaited, runId: string, onSelect: (step: string) => void): ReactNode {
  const step = (
    <button type="button" className="font-medium hover:underline" onClick={() => onSelect(each.id)}>
      {each.name}
    </button>
  );
  switch (each.kind) {
    case 'person':
      return (
        <>
          {step}: a person
          {each.at === null ? (
            ' '
          ) : (
            <>
              {' '}
              for <Duration from={iso(each.at)} to={null} />,{' '}
            </>
          )}
          <Link href={`/inbox/${runId}/${encodeURIComponent(each.id)}`} className={linkLook}>
            open in the inbox
          </Link>
        </>
      );
    case 'timer':
      return (
        <>
          {step}: until a time
          {each.at === null ? (
            ''
          ) : (
            <>
              , <RelativeTime at={iso(each.at)} />
            </>
          )}
        </>
      );
    case 'retry':
      return (
        <>
          {step}: the next attempt
          {each.at === null ? (
            ''
          ) : (
            <>
              , <RelativeTime at={iso(each.at)} />
            </>
          )}
        </>
      );
    case 'call':
      return (
        <>
          {step}: the{' '}
          <Link href={`/workflows/${each.run.workflow_id}/runs/${each.run.run_id}`} className={linkLook}>
            run that it called
          </Link>
        </>
      );
    case 'limit':
      return (
        <>
          {step}: {each.most === 1 ? 'it takes one item at a time' : `it takes at most ${each.most} items at a time`}
        </>
      );
    case 'credits':
      return <CreditShortage kind="paused" />;
    case 'budget':
      return 'The budget of the run is spent.';
    case 'pause':
      return 'The run is paused. Resume it to continue.';
  }
}
