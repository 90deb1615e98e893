'use client';
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Snapshot, stepStateOf } from '@/server/domains/runs/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { itemRows, type Timeline, type TimelineRow } from './timeline-model.ts';

/** The maximum number of a loop's items in the timeline. People reach the others in the panel of the step. */
const MAX_ITEMS = 100;
const REFRESH_MS = 3_000;

type Of = { steps: readonly GraphStepInput[]; snapshot: Snapshot; unfolded: readonly string[]; ended: boolean };

/** Returns the rows of a timeline, including the items of unfolded loops. The items are read when a loop is unfolded. */
export function useUnfoldedLoops(timeline: Timeline, { steps, snapshot, unfolded, ended }: Of): TimelineRow[] {
  const trpc = useTRPC();
  const { workflow_id: id, run_id: runID } = snapshot;
  const read = useQueries({
    queries: unfolded.map(step_id => ({
      ...trpc.runs_get_loop_items.queryOptions({ id, runID, step_id, from: 0, limit: MAX_ITEMS }),
      placeholderData: keepPreviousData,
      staleTime: ended ? Number.POSITIVE_INFINITY : 0,
      refetchInterval: ended ? (false as const) : REFRESH_MS,
    })),
    combine: results => results.map(({ data }) => data),
  });
  return useMemo(() => {
    if (unfolded.length === 0) return timeline.rows;
    const run = { from: timeline.from, to: timeline.to };
    const open = (rows: readonly TimelineRow[]): TimelineRow[] =>
      rows.flatMap(row => {
        const found = row.isLoop ? read[unfolded.indexOf(row.id)] : undefined;
        if (found === undefined) return [row];
        const items = found.items.map(({ index, steps: states }) => ({ index, steps: states.map(stepStateOf) }));
        return [row, ...open(itemRows(row, { steps: innerOf(steps, row.id), items }, run))];
      });
    return open(timeline.rows);
  }, [timeline, read, unfolded, steps]);
}

/** Returns the steps of a loop by the loop's id in the run: `each`, or `each.3.inner`. */
function innerOf(steps: readonly GraphStepInput[], id: string): readonly GraphStepInput[] {
  const [name, , ...rest] = id.split('.');
  const inner = steps.find(step => step.id === name)?.steps;
  const own = Array.isArray(inner) ? (inner as GraphStepInput[]) : [];
  return rest.length === 0 ? own : innerOf(own, rest.join('.'));
}
