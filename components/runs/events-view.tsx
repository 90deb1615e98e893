'use client';
import type { Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { EventList } from './event-list.tsx';
import type { Steps } from './run-graph.tsx';
import type { LiveRun } from './use-run.ts';

type EventsProps = {
  snapshot: Snapshot;
  steps: Steps;
  workflowId: string;
  runId: string;
  live: LiveRun;
  stepIds: readonly string[];
  selected: string | null;
  onSelect: (step: string) => void;
};

/** The events of a run. The URL contains the filters and the opened event. */
export function EventsView(props: EventsProps) {
  const url = useUrlState();
  const view = {
    step: url.get('of'),
    compact: url.get('events') === 'compact',
    q: url.get('q'),
    failuresOnly: url.get('failures') === '1',
    open: Number.parseInt(url.get('event'), 10) || 0,
  };
  return (
    <div className="h-[65dvh]">
      <EventList
        {...props}
        view={view}
        onView={({ step, failuresOnly, open, compact, q }) =>
          url.set({
            ...(step === undefined ? {} : { of: step || undefined }),
            ...(compact === undefined ? {} : { events: compact ? 'compact' : undefined }),
            ...(q === undefined ? {} : { q: q || undefined }),
            ...(failuresOnly === undefined ? {} : { failures: failuresOnly ? '1' : undefined }),
            ...(open === undefined ? {} : { event: open ? String(open) : undefined }),
          })
        }
      />
    </div>
  );
}
