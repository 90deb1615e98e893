import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { JsonObject } from '@/server/platform/json.ts';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { useTRPC } from '../../trpc/provider.tsx';
import { type InputObject, keepInput, lastInput, parseInput } from '../../workflows/run-input.ts';
import type { UnfinishedFields } from '../inspector/unfinished-fields.ts';
import { stepsAt } from '../loop-store.ts';
import type { Draft } from '../use-draft.ts';
import { useLastValues } from '../values/last-results.ts';
import { earlierResults, givenResults } from './earlier.ts';
import { pinsOf } from './pins.ts';
import { levelsOf, readItem, readResults, stepsBefore } from './step-test-data.ts';

export type StepUnderTest = {
  workflowId: string;
  draft: Draft;
  /** The ids of the loops around the step, the outermost first. */
  loop: readonly string[];
  /** The text typed for tests, and the last test of each step, kept until this tab is closed. */
  kept: UnfinishedFields;
  step: Step;
};

/** Returns a text that is kept until the tab is closed, also after the page is left. */
function useKeptText(kept: UnfinishedFields, key: string, initial: () => string) {
  const [text, setText] = useState(() => kept.get(key) ?? initial());
  const set = (next: string) => {
    setText(next);
    kept.set(key, next);
  };
  return [text, set] as const;
}

const pretty = (value: JsonObject | InputObject) => JSON.stringify(value, null, 2);

/** The run whose data a test uses. */
export type ChosenRun = { id: string; results: JsonObject; tooLarge: readonly string[] };

/** Returns the results of earlier steps that a test uses, and functions to choose other results. */
function useEarlier({ workflowId, draft, loop, kept, step }: StepUnderTest) {
  const trpc = useTRPC();
  const path = [...loop, step.id];
  const { graph, run_setup } = draft.state.draft;
  const before = levelsOf(graph.steps, path).flatMap(level => stepsBefore(level.edges, level.id));
  const lastValues = useLastValues(workflowId);
  const { data: last = null } = useQuery({
    // Invalidated together with the list of runs, after each test.
    queryKey: [...trpc.workflows_list_runs.queryKey({ id: workflowId }), 'last values', before],
    queryFn: () => lastValues(before),
    enabled: before.length > 0,
  });
  const key = `test.results:${path.join('.')}`;
  const [typed, setTyped] = useState(() => kept.get(key) ?? null);
  const [run, setRun] = useState<ChosenRun | null>(null);
  const type = (text: string | null) => {
    setTyped(text);
    if (text === null) kept.delete(key);
    else kept.set(key, text);
  };
  const read = typed === null ? null : readResults(typed, before);
  const steps = path.flatMap((_, depth) => stepsAt(graph.steps, path.slice(0, depth)) ?? []);
  const typedResults = read !== null && 'results' in read ? read.results : null;
  const earlier = earlierResults({ before, steps, typed: typedResults, pins: pinsOf(run_setup), run, last });
  return {
    earlier,
    /** The results as JSON. */
    text: typed ?? pretty(Object.fromEntries(earlier.map(({ id, result }) => [id, result]))),
    isTyped: typed !== null,
    type,
    problem: read !== null && 'problem' in read ? read.problem : null,
    run,
    chooseRun: (next: ChosenRun | null) => {
      setRun(next);
      type(null);
    },
  };
}

/** Returns the data of a step's test, and a function that starts the test. */
export function useStepTest(props: StepUnderTest) {
  const { workflowId, draft, loop, kept, step } = props;
  const id = [...loop, step.id].join('.');
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const earlier = useEarlier(props);
  const sample = (draft.state.draft.run_setup.trigger_payload ?? {}) as InputObject;
  const [input, setInput] = useKeptText(kept, 'test.input', () => pretty(lastInput(workflowId) ?? sample));
  const [item, setItem] = useKeptText(kept, `test.item:${loop.join('.')}`, () => 'null');
  const [last, setLast] = useKeptText(kept, `test.run:${id}`, () => '');
  const [unsaved, setUnsaved] = useState(false);
  const test = useMutation(
    trpc.workflows_start_test_run.mutationOptions({
      onSuccess: started => {
        setLast(started.run_id);
        void queryClient.invalidateQueries({ queryKey: trpc.workflows_list_runs.pathKey() });
      },
    }),
  );
  const parsedInput = parseInput(input);
  const parsedItem = readItem(item);
  const submit = async () => {
    if ('problem' in parsedInput || 'problem' in parsedItem || earlier.problem !== null) return;
    keepInput(workflowId, parsedInput.input);
    // The server tests the stored draft, so the latest edits are saved first.
    const { kind } = await draft.save();
    setUnsaved(kind !== 'saved');
    if (kind !== 'saved') return;
    test.mutate({
      id: workflowId,
      step: id,
      ...(loop.length === 0 ? {} : parsedItem),
      params: { trigger_payload: parsedInput.input },
      results: givenResults(earlier.earlier),
      ...(earlier.run === null ? {} : { from_run: earlier.run.id }),
    });
  };
  return {
    input: { text: input, set: setInput, problem: 'problem' in parsedInput ? parsedInput.problem : null },
    item: { text: item, set: setItem, problem: 'problem' in parsedItem ? parsedItem.problem : null },
    earlier,
    chooseRun: (run: ChosenRun | null, itsInput: InputObject | null) => {
      earlier.chooseRun(run);
      if (itsInput !== null) setInput(pretty(itsInput));
    },
    last,
    started: test.data?.run_id,
    unsaved,
    error: test.error,
    pending: test.isPending,
    submit,
  };
}
