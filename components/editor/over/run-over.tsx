'use client';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useMemo } from 'react';
import { isTerminal, type Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { shownStatus, waitsFor } from '../../runs/outcome.ts';
import type { Steps } from '../../runs/run-graph.tsx';
import { type LiveRun, useRun } from '../../runs/use-run.ts';
import { type Outputs, useTRPC } from '../../trpc/provider.tsx';
import { IconButton } from '../../ui/button.tsx';
import { readError } from '../../ui/errors.ts';
import { Link } from '../../ui/link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import type { CanvasMarks } from '../canvas/editor-canvas.tsx';
import { marksOf } from './run-marks.ts';

/** A run that is shown over the draft. */
export type RunOverDraft = { runId: string; live: LiveRun; steps: Steps; marks: CanvasMarks };

type Props = {
  workflowId: string;
  runId: string;
  /** Called with each change of the run, and with null when the run is no longer shown. Must be stable. */
  onChange: (run: RunOverDraft | null) => void;
  onClose: () => void;
};

/** A bar above the canvas about the run that is shown over the draft. The steps are highlighted on the canvas while the run progresses. */
export function RunOver({ workflowId, runId, onChange, onClose }: Props) {
  const trpc = useTRPC();
  const run = useQuery(
    // The stream delivers all later events, also after a cached snapshot.
    trpc.runs_get_snapshot.queryOptions(
      { id: workflowId, runID: runId },
      { staleTime: Number.POSITIVE_INFINITY, retry: false },
    ),
  );
  const number = run.data?.version;
  const version = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id: workflowId, version: number ?? 1 },
      { enabled: number !== undefined, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const error = run.error ?? version.error;
  return (
    <section
      aria-label="Run over the draft"
      className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 border-b bg-surface px-3 py-1 text-sm"
    >
      {error ? (
        <p role="alert" className="min-w-0 flex-1 truncate text-bad">
          The run could not be shown: {readError(error).message}
        </p>
      ) : run.data && version.data ? (
        <Shown key={runId} snapshot={run.data} version={version.data} onChange={onChange} />
      ) : (
        <p className="min-w-0 flex-1 text-muted">Loading the run…</p>
      )}
      <Link className="text-accent-text hover:underline" href={`/workflows/${workflowId}/runs/${runId}`}>
        Open the run
      </Link>
      <IconButton label="Stop showing the run" size="sm" onClick={onClose}>
        <X aria-hidden className="size-4" />
      </IconButton>
    </section>
  );
}

type ShownProps = Pick<Props, 'onChange'> & { snapshot: Snapshot; version: Outputs['workflows_get_version'] };

function Shown({ snapshot, version, onChange }: ShownProps): ReactNode {
  const { steps } = version.graph_snapshot;
  const stepIds = useMemo(() => steps.map(step => step.id), [steps]);
  const live = useRun(snapshot, stepIds);
  const { run_id: runId } = snapshot;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state is changed in place; `revision` says when
  const marks = useMemo(() => marksOf(live.state), [live.state, live.revision]);
  useEffect(() => onChange({ runId, live, steps, marks }), [onChange, runId, live, steps, marks]);
  useEffect(() => () => onChange(null), [onChange]);
  const { state } = live;
  const ended = steps.filter(({ id }) => state.steps.get(id)?.endedAt != null).length;
  const isTest = snapshot.test;
  return (
    <p role="status" className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3">
      <span className="font-medium">{isTest ? 'Test run' : `Run of version ${version.version}`}</span>
      <StatusBadge kind="run" status={shownStatus(state.status ?? snapshot.status, waitsFor(state, steps))} />
      <span className="text-muted tabular-nums">
        {ended} of {steps.length} steps ended
      </span>
      {isTerminal(state.status) ? (
        <span className="text-muted">
          Started <RelativeTime at={snapshot.started_at} />
        </span>
      ) : null}
    </p>
  );
}
