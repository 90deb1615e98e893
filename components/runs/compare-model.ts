import { isAddedStep, isAgentStep, type RunState, type StepState } from '@/server/domains/runs/reading/run-state.ts';
import { stepOutcomeLabel } from './outcome.ts';
import type { LoopCounts, LoopsDrawn } from './use-loops-drawn.tsx';

/** The course of a step in one run; null if the run's version, or the shown item of a loop, does not have the step. */
export type ComparedStep = { outcome: string; status: StepState['status']; durationMs: number | null } | null;
/** `id`: the step's id in the run. `node`: the same without the indexes of items. */
export type Comparison = { id: string; node: string; here: ComparedStep; there: ComparedStep; differs: boolean };

/** A compared run: its steps, and the states of the open loops in their shown items. */
export type ComparedRun = { state: RunState; loops: Pick<LoopsDrawn, 'states' | 'counts' | 'reading'> };
/** The items of a loop that is open for two runs. `failed`: the number of items that failed in either run. */
export type ComparedItems = LoopCounts & { node: string };

/** Returns the open loops of two runs, which show the same item in both. */
export function itemsOfBoth(here: ComparedRun['loops'], there: ComparedRun['loops']): ComparedItems[] {
  return idsOfBoth(here.counts, there.counts).flatMap(node => {
    const [first, second] = [here.counts.get(node), there.counts.get(node)];
    const known = first ?? second;
    if (known === undefined) return [];
    const failed = [...new Set([...(first?.failed_items ?? []), ...(second?.failed_items ?? [])])].sort(
      (a, b) => a - b,
    );
    const total = Math.max(first?.total ?? 0, second?.total ?? 0);
    const ended = Math.min(first?.ended ?? total, second?.ended ?? total);
    return [{ node, id: known.id, index: known.index, total, ended, failed: failed.length, failed_items: failed }];
  });
}

/**
 * Compares two runs step by step, in the order of the first run. Steps that only the second run has come last, and the steps of open loops
 * after their loop. A difference is another outcome, another number of attempts, of items or of failed items, or a step that only one run
 * has. Durations do not count, because they always differ.
 */
export function compareRuns(here: ComparedRun, there: ComparedRun): Comparison[] {
  const inner = here.loops.reading || there.loops.reading ? [] : compareItems(here, there);
  return idsOfBoth(here.state.steps, there.state.steps)
    .filter(id => !isAddedStep(id) || isAgentStep(id))
    .flatMap(id => {
      const courseOf = ({ state, loops }: ComparedRun): Course => [state.steps.get(id), loops.counts.get(id)];
      return [
        compareSteps(id, id, courseOf(here), courseOf(there)),
        ...inner.filter(({ node }) => node.startsWith(`${id}.`)),
      ];
    });
}

/** Compares the steps of open loops. */
function compareItems(here: ComparedRun, there: ComparedRun): Comparison[] {
  return idsOfBoth(here.loops.states, there.loops.states).map(node => {
    const courseOf = ({ loops }: ComparedRun): Course => [loops.states.get(node), loops.counts.get(node)];
    const [first, second] = [courseOf(here), courseOf(there)];
    return compareSteps(first[0]?.id ?? second[0]?.id ?? node, node, first, second);
  });
}

const idsOfBoth = (here: ReadonlyMap<string, unknown>, there: ReadonlyMap<string, unknown>): string[] => [
  ...here.keys(),
  ...[...there.keys()].filter(id => !here.has(id)),
];

type Course = readonly [StepState | undefined, LoopCounts | undefined];

function compareSteps(id: string, node: string, [first, items]: Course, [second, otherItems]: Course): Comparison {
  const isOpenInBoth = items !== undefined && otherItems !== undefined;
  const differs =
    first === undefined ||
    second === undefined ||
    stepOutcomeLabel(first) !== stepOutcomeLabel(second) ||
    first.attempts.length !== second.attempts.length ||
    (isOpenInBoth && (items.total !== otherItems.total || items.failed !== otherItems.failed));
  return { id, node, here: comparedStep(first, items), there: comparedStep(second, otherItems), differs };
}

function comparedStep(step: StepState | undefined, items: Course[1]): ComparedStep {
  if (step === undefined) return null;
  const started = step.attempts[0]?.startedAt;
  const durationMs = started === undefined || step.endedAt === null ? null : step.endedAt - started;
  return { outcome: `${stepOutcomeLabel(step)}${itemsLabel(items)}`, status: step.status, durationMs };
}

function itemsLabel(items: Course[1]): string {
  if (items === undefined) return '';
  const total = items.total === 1 ? '1 item' : `${items.total.toLocaleString()} items`;
  return `, ${total}${items.failed > 0 ? `, ${items.failed.toLocaleString()} failed` : ''}`;
}
