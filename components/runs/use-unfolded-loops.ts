'use client';
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Snapshot, stepStateOf } from '@/server/domains/runs/reading/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { type UnfoldedLoop, WINDOW } from './item-windows.ts';
import type { ItemWindow } from './timeline-items.tsx';
import { itemRows, type Timeline, type TimelineRow } from './timeline-model.ts';

const REFRESH_MS = 3_000;

type Options = {
  steps: readonly GraphStepInput[];
  snapshot: Snapshot;
  unfolded: readonly UnfoldedLoop[];
  ended: boolean;
};

/** A row of a timeline, or the controls that page through the items of the loop above. */
export type ShownRow = TimelineRow | { id: string; items: ItemWindow };

/** Returns the rows of a timeline, including the items of unfolded loops. The items are read when a loop is unfolded. */
export function useUnfoldedLoops(
  timeline: Timeline,
  { steps, snapshot, unfolded, ended }: Options,
): readonly ShownRow[] {
  const trpc = useTRPC();
  const { workflow_id: id, run_id: runID } = snapshot;
  const read = useQueries({
    queries: unfolded.map(({ id: step_id, from }) => ({
      ...trpc.runs_get_loop_items.queryOptions({ id, runID, step_id, from, limit: WINDOW }),
      placeholderData: keepPreviousData,
      staleTime: ended ? Number.POSITIVE_INFINITY : 0,
      refetchInterval: ended ? (false as const) : REFRESH_MS,
    })),
    combine: results => results.map(({ data }) => data),
  });
  return useMemo(() => {
    if (unfolded.length === 0) return timeline.rows;
    const run = { from: timeline.from, to: timeline.to };
    const open = (rows: readonly TimelineRow[]): ShownRow[] =>
      rows.flatMap(row => {
        const at = row.isLoop ? unfolded.findIndex(loop => loop.id === row.id) : -1;
        const [found, loop] = [read[at], unfolded[at]];
        if (found === undefined || loop === undefined) return [row];
        const items = found.items.map(({ index, steps: states }) => ({ index, steps: states.map(stepStateOf) }));
        return [
          row,
          ...windowRow(row, loop, found),
          ...open(itemRows(row, { steps: innerOf(steps, row.id), items }, run)),
        ];
      });
    return open(timeline.rows);
  }, [timeline, read, unfolded, steps]);
}

type Items = Outputs['runs_get_loop_items'];

/** Returns the row with the controls for the items of a loop; empty if all items are shown and none has failed. */
function windowRow(row: TimelineRow, { from }: UnfoldedLoop, { total, failed, failed_items }: Items): ShownRow[] {
  if (total === null || (total <= WINDOW && failed === 0)) return [];
  const items = { loop: row.id, name: row.name ?? row.id, depth: row.depth, from, total, failed };
  return [{ id: `${row.id}:items`, items: { ...items, failedItems: failed_items } }];
}

/** Returns the steps of a loop by the loop's id in the run: `each`, or `each.3.inner`. */
function innerOf(steps: readonly GraphStepInput[], id: string): readonly GraphStepInput[] {
  const [name, , ...rest] = id.split('.');
  const inner = steps.find(step => step.id === name)?.steps;
  const own = Array.isArray(inner) ? (inner as GraphStepInput[]) : [];
  return rest.length === 0 ? own : innerOf(own, rest.join('.'));
}
