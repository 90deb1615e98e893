'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { useId, useState } from 'react';
import type { JsonObject } from '@/server/platform/json.ts';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { CreditShortage, INSUFFICIENT_CREDITS } from '../../runs/credit-shortage.tsx';
import { readError } from '../../trpc/errors.ts';
import { useTRPC, useTRPCClient } from '../../trpc/provider.tsx';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { EmptyState, FormError } from '../../ui/states.tsx';
import { statusLook } from '../../ui/status-badge.tsx';
import { formatRelative, useNow } from '../../ui/time.tsx';
import { toastError } from '../../ui/toaster.tsx';
import { type InputObject, keepInput, lastInput, parseInput } from '../../workflows/run-input.ts';
import type { UnfinishedFields } from '../inspector/unfinished-fields.ts';
import { LazyCodeEditor } from '../lazy-code-editor.tsx';
import type { StepsDraft } from '../loop-store.ts';
import type { Draft } from '../use-draft.ts';
import type { Editor } from '../use-editor.ts';
import { StepOutcome } from './step-outcome.tsx';
import { emptyResults, levelsOf, readItem, readResults, resultsOf, stepsBefore } from './step-test-data.ts';

export type StepTestProps = {
  workflowId: string;
  draft: Draft;
  /** The steps that are edited: those of the draft, or of a loop in it. */
  view: StepsDraft;
  /** The ids of that loop and of those around it, the outermost first. */
  loop: readonly string[];
  editor: Editor;
  /** The text typed for tests, and the last test of each step, kept while this tab is open. */
  kept: UnfinishedFields;
};

/** Tests the selected step alone, with an input and with results of the steps before it. */
export function StepTest(props: StepTestProps) {
  const { view, loop, editor } = props;
  const chosen = view.state.draft.graph.steps.filter(({ id }) => editor.selected.has(id));
  const [step, ...others] = chosen;
  if (step === undefined || others.length > 0)
    return (
      <EmptyState icon={FlaskConical} title={step === undefined ? 'No step selected' : 'Several steps selected'}>
        Select one step to test it alone. “Test” above runs the whole draft.
      </EmptyState>
    );
  return <StepTestForm key={[...loop, step.id].join('.')} {...props} step={step} />;
}

/** A text that survives leaving the page, until the tab is closed. */
function useKeptText(kept: UnfinishedFields, key: string, initial: () => string) {
  const [text, setText] = useState(() => kept.get(key) ?? initial());
  const set = (next: string) => {
    setText(next);
    kept.set(key, next);
  };
  return [text, set] as const;
}

const pretty = (value: JsonObject | InputObject) => JSON.stringify(value, null, 2);

/** The texts of a test, and what starts it. */
function useStepTest({ workflowId, draft, loop, kept, step }: StepTestProps & { step: Step }) {
  const path = [...loop, step.id];
  const id = path.join('.');
  const levels = levelsOf(draft.state.draft.graph.steps, path);
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const before = levels.flatMap(level => stepsBefore(level.edges, level.id));
  const empty = () => Object.assign({}, ...levels.map(level => emptyResults(level.edges, level.id))) as JsonObject;
  const sample = (draft.state.draft.run_setup.trigger_payload ?? {}) as InputObject;
  const [input, setInput] = useKeptText(kept, 'test.input', () => pretty(lastInput(workflowId) ?? sample));
  const [results, setResults] = useKeptText(kept, `test.results:${id}`, () => pretty(empty()));
  const [item, setItem] = useKeptText(kept, `test.item:${loop.join('.')}`, () => 'null');
  const [run, setRun] = useState('');
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
  const parsedResults = readResults(results, before);
  const parsedItem = readItem(item);
  const submit = async () => {
    if ('problem' in parsedInput || 'problem' in parsedResults || 'problem' in parsedItem) return;
    keepInput(workflowId, parsedInput.input);
    // What is tested is what is stored, so the latest changes are saved first.
    const { kind } = await draft.save();
    setUnsaved(kind !== 'saved');
    if (kind !== 'saved') return;
    test.mutate({
      id: workflowId,
      step: id,
      ...(loop.length === 0 ? {} : parsedItem),
      params: { trigger_payload: parsedInput.input },
      results: parsedResults.results,
      ...(run === '' ? {} : { from_run: run }),
    });
  };
  const takeRun = (next: string, data: PastData | null) => {
    setRun(next);
    if (data === null) return;
    setInput(pretty(data.input));
    setResults(pretty({ ...empty(), ...data.results }));
  };
  return {
    before,
    input: { text: input, set: setInput, problem: 'problem' in parsedInput ? parsedInput.problem : null },
    item: { text: item, set: setItem, problem: 'problem' in parsedItem ? parsedItem.problem : null },
    results: { text: results, set: setResults, problem: 'problem' in parsedResults ? parsedResults.problem : null },
    run,
    takeRun,
    last,
    started: test.data?.run_id,
    unsaved,
    error: test.error,
    pending: test.isPending,
    submit,
  };
}

function StepTestForm(props: StepTestProps & { step: Step }) {
  const { workflowId, loop, step } = props;
  const test = useStepTest(props);
  const { before, input, item, results, run, last } = test;
  const around = loop.at(-1);
  return (
    <form
      className="flex flex-col gap-4 p-4"
      onSubmit={event => {
        event.preventDefault();
        void test.submit();
      }}
    >
      <p className="text-xs text-muted">
        Runs only this step, as it is in the draft now. It calls real services and is charged like any step.
      </p>
      <PastRun workflowId={workflowId} before={before} value={run} onChange={test.takeRun} />
      <TestData label="Input" hint="The input that the step reads." data={input} revision={run} />
      {around === undefined ? null : (
        <TestData label="Item" hint={`The one item of “${around}” in this test.`} data={item} revision="" />
      )}
      {before.length === 0 ? null : (
        <TestData
          label="Results of earlier steps"
          hint="Keyed by step ID. The result of a step that is left out is null."
          data={results}
          revision={run}
        />
      )}
      {test.unsaved ? (
        <p role="alert" className="text-sm text-bad">
          The draft could not be saved, so the step was not tested. See the message below.
        </p>
      ) : null}
      {test.error && readError(test.error).code === INSUFFICIENT_CREDITS ? (
        <CreditShortage kind="refused" />
      ) : (
        <FormError error={test.error} />
      )}
      <Button
        type="submit"
        variant="primary"
        className="self-start"
        icon={<FlaskConical aria-hidden className="size-3.5" />}
        pending={test.pending}
        disabled={[input, item, results].some(({ problem }) => problem !== null)}
      >
        Test step
      </Button>
      {last === '' ? null : (
        <StepOutcome
          key={last}
          {...{ workflowId, loop: around, step: step.id }}
          runId={last}
          reveal={test.started === last}
        />
      )}
    </form>
  );
}

type PastData = { input: InputObject; results: JsonObject };
type PastRunProps = {
  workflowId: string;
  before: readonly string[];
  value: string;
  /** null: the texts stay as they are. */
  onChange: (run: string, data: PastData | null) => void;
};

/** Offers the last runs of the workflow, whose data a test can use. Hidden where there are none. */
function PastRun({ workflowId, before, value, onChange }: PastRunProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const now = useNow();
  const [tooLarge, setTooLarge] = useState<readonly string[]>([]);
  const list = useQuery(trpc.workflows_list_runs.queryOptions({ id: workflowId, limit: 20 }));
  const read = useMutation({
    mutationFn: (run: string) => client.runs_get_context.query({ id: workflowId, runID: run }),
    onSuccess: (context, run) => {
      const found = resultsOf(context, before);
      setTooLarge(found.tooLarge);
      onChange(run, { input: context.input as InputObject, results: found.results });
    },
    onError: toastError,
  });
  const runs = list.data?.runs ?? [];
  if (runs.length === 0) return null;
  return (
    <Field
      label="Data from"
      hint={
        tooLarge.length > 0
          ? `Too large to show, but used: ${tooLarge.join(', ')}`
          : 'Fills in the input and results of an earlier run.'
      }
    >
      <Select
        value={value}
        disabled={read.isPending}
        options={[
          { value: '', label: 'No run' },
          ...runs.map(run => ({
            value: run.run_id,
            label: `${now === 0 ? run.started_at : formatRelative(Date.parse(run.started_at), now)}, ${statusLook('run', run.status).label}`,
            hint: `${run.test ? 'Draft' : `Version ${run.version}`}, ${run.trigger_type}`,
          })),
        ]}
        onChange={next => {
          if (next !== '') return read.mutate(next);
          setTooLarge([]);
          onChange('', null);
        }}
      />
    </Field>
  );
}

type TestDataProps = {
  label: string;
  hint: string;
  data: { text: string; set: (text: string) => void; problem: string | null };
  /** Another value restarts the history of the editor. */
  revision: string;
};

function TestData({ label, hint, data, revision }: TestDataProps) {
  const id = useId();
  const { text, set, problem } = data;
  return (
    <div className="flex flex-col gap-1">
      <p className="text-sm font-medium">{label}</p>
      <LazyCodeEditor
        key={revision}
        label={label}
        language="json"
        value={text}
        onChange={set}
        invalid={problem !== null}
        describedBy={`${id}-hint`}
        ownHistory
      />
      <div id={`${id}-hint`} className="text-xs">
        <p className="text-muted">{hint}</p>
        {problem ? <p className="wrap-anywhere text-bad">{problem}</p> : null}
      </div>
    </div>
  );
}
