import Link from 'next/link';
import type { ReactNode } from 'react';
import { isAddedStep, isTerminal, type RunState, type Snapshot } from '@/server/domains/runs/run-state.ts';
import { CopyId } from '../ui/copy.tsx';
import { Credits } from '../ui/credits.tsx';
import { Duration, RelativeTime } from '../ui/time.tsx';

/** What is worth knowing of a run at a glance. */
export function RunFacts({ snapshot, state }: { snapshot: Snapshot; state: RunState }) {
  const ended = state.endedAt === null ? snapshot.ended_at : new Date(state.endedAt).toISOString();
  const done = [...state.steps.values()].filter(step => step.endedAt !== null && !isAddedStep(step.id)).length;
  const until = isTerminal(state.status) ? (ended ?? snapshot.started_at) : null;
  const facts: [string, ReactNode][] = [
    ['Started', <RelativeTime key="at" at={snapshot.started_at} />],
    ['Duration', <Duration key="for" from={snapshot.started_at} to={until} />],
    ['Steps', `${done} of ${snapshot.steps_total}`],
    ['Version', snapshot.test ? 'Draft (test run)' : `v${snapshot.version}`],
    ['Trigger', snapshot.trigger_type],
    ['By', snapshot.started_by],
    ...calledBy(snapshot),
    ['Credits', <Credits key="credits" value={state.credits} />],
    ['Run', <CopyId key="id" id={snapshot.run_id} />],
  ];
  return (
    <dl className="mb-4 flex flex-wrap gap-x-6 gap-y-2 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="flex min-w-0 flex-col">
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="truncate text-muted tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The run and the step that called this one, as a link. */
function calledBy({ parent }: Snapshot): [string, ReactNode][] {
  if (parent === null) return [];
  const { run_id, workflow_id, step_id } = parent;
  const href = `/workflows/${workflow_id}/runs/${run_id}`;
  return [
    [
      'Called by',
      <Link key="parent" href={href} className="underline underline-offset-2 hover:text-ink">
        Step {step_id} of another run
      </Link>,
    ],
  ];
}
