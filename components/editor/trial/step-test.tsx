'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { CreditShortage, INSUFFICIENT_CREDITS } from '../../runs/credit-shortage.tsx';
import { useTRPC, useTRPCClient } from '../../trpc/provider.tsx';
import { Button } from '../../ui/button.tsx';
import { readError } from '../../ui/errors.ts';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { EmptyState, FormError } from '../../ui/states.tsx';
import { statusLook } from '../../ui/status-badge.tsx';
import { formatRelative, useNow } from '../../ui/time.tsx';
import { toastError } from '../../ui/toaster.tsx';
import type { InputObject } from '../../workflows/run-input.ts';
import type { UnfinishedFields } from '../inspector/unfinished-fields.ts';
import type { StepsDraft } from '../loop-store.ts';
import { StepColumns } from '../step-columns.tsx';
import type { Draft } from '../use-draft.ts';
import type { Editor } from '../use-editor.ts';
import { EarlierResults } from './earlier-results.tsx';
import { PinnedResult } from './pin-controls.tsx';
import { StepOutcome } from './step-outcome.tsx';
import { resultsOf } from './step-test-data.ts';
import { TestData } from './test-data.tsx';
import { TestInput } from './test-input.tsx';
import { type ChosenRun, useStepTest } from './use-step-test.ts';

export type StepTestProps = {
  workflowId: string;
  draft: Draft;
  /** The steps that are edited: the steps of the draft, or of a loop in it. */
  view: StepsDraft;
  /** The ids of the shown loop and of the loops around it, the outermost first. */
  loop: readonly string[];
  editor: Editor;
  /** The text typed for tests, and the last test of each step, kept until this tab is closed. */
  kept: UnfinishedFields;
  /**
   * The form of the step, if it fits between the input and the result of the step; null if the form has its own tab.
   */
  settings: ReactNode;
};

/** Tests only the selected step, with an input and with results of earlier steps. */
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

type FormProps = StepTestProps & { step: Step };

function StepTestForm(props: FormProps) {
  const { settings } = props;
  const test = useStepTest(props);
  const form = <TestForm {...props} test={test} />;
  const outcome = <Outcome {...props} test={test} />;
  if (settings !== null) return <StepColumns input={form} settings={settings} output={outcome} />;
  return (
    <div className="-mx-3 -mt-4 h-full lg:overflow-y-auto">
      {form}
      {outcome}
    </div>
  );
}

type Test = ReturnType<typeof useStepTest>;

function TestForm({ workflowId, draft, loop, test }: FormProps & { test: Test }) {
  const { input, item, earlier } = test;
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
      <PastRun
        workflowId={workflowId}
        before={earlier.earlier.map(({ id }) => id)}
        value={earlier.run?.id ?? ''}
        onChange={test.chooseRun}
      />
      <TestInput schema={draft.state.draft.graph.input_schema} data={input} revision={earlier.run?.id ?? ''} />
      {around === undefined ? null : (
        <TestData label="Item" hint={`The one item of “${around}” in this test.`} data={item} revision="" />
      )}
      <EarlierResults earlier={earlier} />
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
        disabled={[input, item, earlier].some(({ problem }) => problem !== null)}
      >
        Test step
      </Button>
    </form>
  );
}

function Outcome({ workflowId, draft, loop, step, settings, test }: FormProps & { test: Test }) {
  const { last } = test;
  const isPinnable = loop.length === 0;
  return (
    <div className="flex flex-col gap-4 px-4 py-4 empty:hidden">
      {isPinnable ? <PinnedResult draft={draft} step={step.id} editable /> : null}
      {last === '' ? (
        settings === null ? null : (
          <p className="text-sm text-muted">No test yet. “Test step” runs the step with this input.</p>
        )
      ) : (
        <StepOutcome
          key={last}
          {...{ workflowId, loop: loop.at(-1), step: step.id }}
          runId={last}
          reveal={test.started === last}
          pinIn={isPinnable ? draft : null}
        />
      )}
    </div>
  );
}

type PastRunProps = {
  workflowId: string;
  before: readonly string[];
  value: string;
  /** `input` is null if the typed text should stay. */
  onChange: (run: ChosenRun | null, input: InputObject | null) => void;
};

/** Offers the last runs of the workflow as a data source for a test. Hidden if there are no runs. */
function PastRun({ workflowId, before, value, onChange }: PastRunProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const now = useNow();
  const list = useQuery(trpc.workflows_list_runs.queryOptions({ id: workflowId, limit: 20 }));
  const read = useMutation({
    mutationFn: (run: string) => client.runs_get_context.query({ id: workflowId, runID: run }),
    onSuccess: (context, run) => {
      onChange({ id: run, ...resultsOf(context, before) }, context.input as InputObject);
    },
    onError: toastError,
  });
  const runs = list.data?.runs ?? [];
  if (runs.length === 0) return null;
  return (
    <Field
      label="Data from"
      hint="By themselves, tests begin with the last result of each earlier step, from whatever run or test it is."
    >
      <Select
        value={value}
        disabled={read.isPending}
        options={[
          { value: '', label: 'The last results' },
          ...runs.map(run => ({
            value: run.run_id,
            label: `${now === 0 ? run.started_at : formatRelative(Date.parse(run.started_at), now)}, ${statusLook('run', run.status).label}`,
            hint: `${run.test ? 'Draft' : `Version ${run.version}`}, ${run.trigger_type}`,
          })),
        ]}
        onChange={next => {
          if (next !== '') return read.mutate(next);
          onChange(null, null);
        }}
      />
    </Field>
  );
}
