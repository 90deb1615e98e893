import type { ReactNode } from 'react';
import { isAddedStep, isTerminal, type RunState, type Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { useNamed } from '../graph/use-named.ts';
import { useCreditsShown } from '../session/session.tsx';
import { CopyId } from '../ui/copy.tsx';
import { Credits } from '../ui/credits.tsx';
import { Duration, RelativeTime } from '../ui/time.tsx';
import { FailureHandlerLink, RunLink } from './failure-handler-link.tsx';
import { progressOf } from './outcome.ts';
import { RunOf } from './run-of.tsx';

type Props = {
  snapshot: Snapshot;
  state: RunState;
  /** Whether the version has a failure handler. */
  hasHandler: boolean;
};

/** Shows the main facts about a run at a glance. */
export function RunFacts({ snapshot, state, hasHandler }: Props) {
  const ended = state.endedAt === null ? snapshot.ended_at : new Date(state.endedAt).toISOString();
  const until = isTerminal(state.status) ? (ended ?? snapshot.started_at) : null;
  const credits: [string, ReactNode][] = useCreditsShown()
    ? [['Credits', <Credits key="credits" value={state.credits} />]]
    : [];
  const facts: [string, ReactNode][] = [
    ['Started', <RelativeTime key="at" at={snapshot.started_at} />],
    ['Duration', <Duration key="for" from={snapshot.started_at} to={until} />],
    ['Steps', progressInWords(progressOf(state, id => !isAddedStep(id)))],
    ['Version', snapshot.test ? 'Draft (test run)' : `v${snapshot.version}`],
    ['Trigger', snapshot.trigger_type],
    ['By', snapshot.started_by],
    ...linkedRuns(snapshot, state, hasHandler),
    ...credits,
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

/** The number of reruns that a snapshot lists. */
const MAX_RERUNS = 20;

/** Shows "7 of 9 ran · 2 skipped". Skipped and reused steps do not count as run. */
function progressInWords({ ran, skipped, reused, total }: ReturnType<typeof progressOf>): string {
  const others = [...(reused > 0 ? [`${reused} reused`] : []), ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return [`${ran} of ${total - skipped - reused} ran`, ...others].join(' · ');
}

/** The calling run, named by its time and, if the user may see it, by its workflow. */
function CallingRun({ run: { run_id, workflow_id } }: { run: { run_id: string; workflow_id: string } }) {
  const workflow = useNamed({ workflows: true }).find(({ id }) => id === workflow_id)?.name;
  return (
    <>
      {workflow === undefined ? '' : `${workflow}: `}
      <RunOf id={run_id} />
    </>
  );
}

/** Links to the failed run that this run handles, and to the run that handles the failure of this run. */
function linkedRuns(snapshot: Snapshot, { status, endedAt }: RunState, hasHandler: boolean): [string, ReactNode][] {
  const { parent, failed_run } = snapshot;
  const linked: [string, ReactNode][] = [];
  const { original, reruns } = snapshot;
  if (original !== null)
    linked.push([
      original.from_step === null ? 'Run again from' : 'Reused from',
      <RunLink key="original" run={original}>
        <RunOf id={original.run_id} />
      </RunLink>,
    ]);
  const [last] = reruns;
  if (last !== undefined)
    linked.push([
      reruns.length === 1
        ? 'Run again as'
        : `Run again ${reruns.length}${reruns.length < MAX_RERUNS ? '' : '+'} times, last as`,
      <RunLink key="rerun" run={last}>
        <RunOf id={last.run_id} />
      </RunLink>,
    ]);
  if (parent !== null)
    linked.push([
      'Called by',
      <RunLink key="parent" run={parent}>
        <CallingRun run={parent} />
      </RunLink>,
    ]);
  if (failed_run !== null)
    linked.push([
      'Handles',
      <RunLink key="failed" run={failed_run}>
        A failed run
      </RunLink>,
    ]);
  // Failures of handlers and of test runs have no handler.
  if (hasHandler && status === 'failed' && endedAt !== null && failed_run === null && !snapshot.test)
    linked.push(['Handled by', <FailureHandlerLink key="handler" snapshot={snapshot} endedAt={endedAt} />]);
  return linked;
}
