import { keepPreviousData, useQueries, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useMemo, useRef } from 'react';
import { type RunState, type StepState, stepStateOf } from '@/server/domains/runs/reading/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { nodeIn } from '../graph/levels.ts';
import { stepsOfLoop } from '../graph/loop-steps.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { ItemSwitcher } from './item-switcher.tsx';
import { itemsNamed, nodeOfStep, stepOfNode } from './loop-place.ts';

/** The interval at which the items of an active loop are read. */
const REFRESH_MS = 3_000;

type Options = {
  run: { workflowId: string; runId: string };
  steps: readonly GraphStepInput[];
  state: RunState;
  isOpen: (node: string) => boolean;
  selected: string | null;
  onSelect: (step: string | null) => void;
};
/** An active loop whose steps are drawn: its id in the run, and the index of the shown item. */
type DrawnLoop = { node: string; id: string; index: number };

/** The items of an open loop, of which one is shown. `id`: the loop's id in the run. */
export type LoopCounts = {
  id: string;
  index: number;
  total: number;
  ended: number;
  failed: number;
  failed_items: readonly number[];
};

/** The open loops of a graph: the states of their steps, by node, and the control that chooses the shown items. */
export type LoopsDrawn = {
  /** The states of the steps in the shown items. */
  states: ReadonlyMap<string, StepState>;
  counts: ReadonlyMap<string, LoopCounts>;
  /** Whether the shown items are still being read. */
  reading: boolean;
  /** Returns the control that chooses the shown item of an open loop. */
  foot: (node: string) => ReactNode;
  select: (node: string | null) => void;
};

/**
 * Returns the states of the steps of open loops: for each loop, in the item that was selected last, or else in the
 * first one.
 */
export function useLoopsDrawn({ run, steps, state, isOpen, selected, onSelect }: Options): LoopsDrawn {
  const trpc = useTRPC();
  const client = useQueryClient();
  const chosen = useRef(new Map<string, number>());
  for (const [loop, index] of itemsNamed(selected ?? '')) chosen.current.set(loop, index);
  const items = chosen.current;
  const drawn: DrawnLoop[] = [];
  const visit = (level: string, own: readonly GraphStepInput[], began: (id: string) => boolean) => {
    for (const step of own) {
      const inner = stepsOfLoop(step);
      const node = nodeIn(level, step.id);
      const id = stepOfNode(node, items);
      if (inner === null || !isOpen(node) || !began(id)) continue;
      const loop = { node, id, index: items.get(id) ?? 0 };
      drawn.push(loop);
      if (inner.some(({ type }) => type === 'for_each'))
        visit(node, inner, each => {
          const read = client.getQueryData(optionsOf(trpc, run, loop).queryKey)?.items[0]?.steps;
          return read?.some(({ step_id, attempts }) => step_id === each && attempts.length > 0) === true;
        });
    }
  };
  visit('', steps, id => (state.steps.get(id)?.attempts.length ?? 0) > 0);
  const { read, ...shown } = useShownItems(drawn, run, state.endedAt !== null);
  const latest = useRef({ steps, drawn, selected, onSelect });
  latest.current = { steps, drawn, selected, onSelect };
  const choices = JSON.stringify(drawn);
  const foot = useCallback(
    (node: string): ReactNode => {
      const at = (JSON.parse(choices) as DrawnLoop[]).findIndex(loop => loop.node === node);
      const loop = latest.current.drawn[at];
      const found = read[at];
      if (loop === undefined || !found?.total) return null;
      const selectItem = (index: number) => {
        const inside = nodeOfStep(latest.current.selected ?? '').startsWith(`${node}.`);
        const [, name] = inside
          ? nodeOfStep(latest.current.selected ?? '')
              .slice(node.length)
              .split('.')
          : [];
        latest.current.onSelect(`${loop.id}.${index}${name === undefined ? '' : `.${name}`}`);
      };
      return (
        <div className="nodrag nopan nokey pointer-events-auto w-full">
          <ItemSwitcher found={found} index={loop.index} onGo={selectItem} />
        </div>
      );
    },
    [read, choices],
  );
  const select = useCallback((node: string | null) => {
    const { current } = latest;
    if (node === null) return current.onSelect(null);
    const loop = current.drawn.find(each => each.node === node);
    // The panel beside the graph shows the same item.
    if (loop !== undefined) return current.onSelect(loop.index === 0 ? loop.id : `${loop.id}.${loop.index}`);
    // Steps added by an agent have ids with dots, too.
    const isOutside = current.steps.some(({ id }) => id === node);
    current.onSelect(isOutside ? node : stepOfNode(node, chosen.current));
  }, []);
  const { states, counts, reading } = shown;
  return useMemo(() => ({ states, counts, reading, foot, select }), [states, counts, reading, foot, select]);
}

const optionsOf = (
  trpc: ReturnType<typeof useTRPC>,
  { workflowId: id, runId: runID }: Options['run'],
  loop: DrawnLoop,
) => trpc.runs_get_loop_items.queryOptions({ id, runID, step_id: loop.id, from: loop.index, limit: 1 });

/** Reads the shown items of loops, repeatedly until the run has ended. */
function useShownItems(drawn: readonly DrawnLoop[], run: Options['run'], ended: boolean) {
  const trpc = useTRPC();
  const { read, reading } = useQueries({
    queries: drawn.map(loop => ({
      ...optionsOf(trpc, run, loop),
      placeholderData: keepPreviousData,
      staleTime: ended ? 10_000 : 0,
      refetchInterval: ended ? (false as const) : REFRESH_MS,
    })),
    combine: results => ({
      read: results.map(({ data }) => data),
      reading: results.some(({ isPending, isPlaceholderData }) => isPending || isPlaceholderData),
    }),
  });
  const states = useMemo(() => {
    const found = new Map<string, StepState>();
    for (const step of read.flatMap(loop => loop?.items ?? []).flatMap(item => item.steps))
      found.set(nodeOfStep(step.step_id), stepStateOf(step));
    return found;
  }, [read]);
  const loops = JSON.stringify(drawn);
  const counts = useMemo(() => {
    const found = new Map<string, LoopCounts>();
    for (const [at, { node, id, index }] of (JSON.parse(loops) as DrawnLoop[]).entries()) {
      const { total = null, ended = 0, failed = 0, failed_items = [] } = read[at] ?? {};
      if (total !== null) found.set(node, { id, index, total, ended, failed, failed_items });
    }
    return found;
  }, [loops, read]);
  return { read, states, counts, reading };
}
