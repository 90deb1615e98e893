import { keepPreviousData, useQueries, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useMemo, useRef } from 'react';
import { type RunState, type StepState, stepStateOf } from '@/server/domains/runs/reading/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { nodeIn } from '../graph/levels.ts';
import { stepsOfLoop } from '../graph/loop-steps.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { ItemSwitcher } from './item-switcher.tsx';
import { itemsNamed, nodeOfStep, stepOfNode } from './loop-place.ts';

/** How often the items of a loop that is at work are read. */
const REFRESH_MS = 3_000;

type Of = {
  run: { workflowId: string; runId: string };
  steps: readonly GraphStepInput[];
  state: RunState;
  isOpen: (node: string) => boolean;
  selected: string | null;
  onSelect: (step: string | null) => void;
};
/** A loop at work whose steps are drawn: its id in the run, and the number of the item that is shown. */
type DrawnLoop = { node: string; id: string; index: number };

/**
 * Returns what the steps of open loops did in the items that are shown: for each loop the item that was selected last, else the first.
 * With it, a foot for each of the loops that chooses its item.
 */
export function useLoopsDrawn({ run, steps, state, isOpen, selected, onSelect }: Of) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const chosen = useRef(new Map<string, number>());
  for (const [loop, index] of itemsNamed(selected ?? '')) chosen.current.set(loop, index);
  const items = chosen.current;
  const optionsOf = ({ id, index }: DrawnLoop) =>
    trpc.runs_get_loop_items.queryOptions({
      id: run.workflowId,
      runID: run.runId,
      step_id: id,
      from: index,
      limit: 1,
    });
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
          const read = client.getQueryData(optionsOf(loop).queryKey)?.items[0]?.steps;
          return read?.some(({ step_id, attempts }) => step_id === each && attempts.length > 0) === true;
        });
    }
  };
  visit('', steps, id => (state.steps.get(id)?.attempts.length ?? 0) > 0);
  const ended = state.endedAt !== null;
  const read = useQueries({
    queries: drawn.map(loop => ({
      ...optionsOf(loop),
      placeholderData: keepPreviousData,
      staleTime: ended ? 10_000 : 0,
      refetchInterval: ended ? (false as const) : REFRESH_MS,
    })),
    combine: results => results.map(({ data }) => data),
  });
  const states = useMemo(() => {
    const found = new Map<string, StepState>();
    for (const step of read.flatMap(loop => loop?.items ?? []).flatMap(item => item.steps))
      found.set(nodeOfStep(step.step_id), stepStateOf(step));
    return found;
  }, [read]);
  const latest = useRef({ steps, drawn, selected, onSelect });
  latest.current = { steps, drawn, selected, onSelect };
  const choices = JSON.stringify(drawn);
  const foot = useCallback(
    (node: string): ReactNode => {
      const at = (JSON.parse(choices) as DrawnLoop[]).findIndex(loop => loop.node === node);
      const loop = latest.current.drawn[at];
      const found = read[at];
      if (loop === undefined || !found?.total) return null;
      const go = (index: number) => {
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
          <ItemSwitcher found={found} index={loop.index} onGo={go} />
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
    // Steps that an agent added have ids with dots, too.
    const isOutside = current.steps.some(({ id }) => id === node);
    current.onSelect(isOutside ? node : stepOfNode(node, chosen.current));
  }, []);
  return { states, foot, select };
}
