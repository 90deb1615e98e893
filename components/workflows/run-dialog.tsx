'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { JsonObject } from '@/server/platform/json.ts';
import { formFields, prune, validateValues } from '../forms/form-schema.ts';
import { JsonForm } from '../forms/json-form.tsx';
import { CreditShortage, INSUFFICIENT_CREDITS } from '../runs/credit-shortage.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { readError } from '../ui/errors.ts';
import { FormError } from '../ui/states.tsx';
import { InputFields } from './input-fields.tsx';
import { type Choices, type OpenedStep, triggerSteps } from './opened-steps.ts';
import { fieldsOf, type InputField, type InputObject, keepInput, lastInput, parseInput } from './run-input.ts';
import { SavedInputs } from './saved-inputs.tsx';
import { StepSettings } from './step-settings.tsx';
import { useInputSchema, withDefaults } from './use-input-schema.ts';

const NO_PROBLEMS: ReadonlyMap<string, string> = new Map();

// Loaded on demand: the editor is half a megabyte, and every page contains the dialog.
const JsonEditor = dynamic(() => import('../code/json-editor.tsx').then(module => module.JsonEditor), { ssr: false });

export type StartableWorkflow = Pick<
  Outputs['workflows_get'],
  'id' | 'name' | 'latest_version' | 'run_setup' | 'graph'
>;
type Props = {
  workflow: StartableWorkflow | null;
  onClose: () => void;
  /** Saves the draft before a test run; returns whether the draft was saved. Absent: the latest version is run. */
  saveDraft?: () => Promise<boolean>;
  /** Shows the started run. Default: opens the page of the run. */
  onStarted?: (runId: string) => void;
};

/**
 * Starts a run of the latest version or a test run of the draft, then shows the run. People enter the input as JSON, or in a form
 * if the fields are known from a schema or a sample. Open while `workflow` is not null.
 */
export function RunDialog({ workflow, onClose, saveDraft, onStarted }: Props) {
  const name = workflow?.name ?? '';
  return (
    <Dialog
      open={workflow !== null}
      onOpenChange={open => !open && onClose()}
      size="lg"
      title={saveDraft ? `Test “${name}”` : `Run “${name}”`}
      description={
        saveDraft
          ? 'Runs the draft as it is now, without publishing it. A test run calls real services and is charged like any run.'
          : `Version ${workflow?.latest_version ?? '–'} runs, not the draft.`
      }
    >
      {workflow ? (
        <RunForm key={workflow.id} workflow={workflow} onDone={onClose} saveDraft={saveDraft} onStarted={onStarted} />
      ) : null}
    </Dialog>
  );
}

/** Returns the input as text, and the fields of a sample input. */
function useRunInput(workflow: StartableWorkflow) {
  const sample = (workflow.run_setup.trigger_payload ?? {}) as InputObject;
  // A newly chosen input resets the fields.
  const [initial, setInitial] = useState(() => ({ input: lastInput(workflow.id) ?? sample, count: 0 }));
  const fields = useMemo(() => fieldsOf({ ...sample, ...initial.input }), [sample, initial]);
  const [text, setText] = useState(() => JSON.stringify(initial.input, null, 2));
  const choose = (input: InputObject) => {
    setInitial({ input, count: initial.count + 1 });
    setText(JSON.stringify(input, null, 2));
  };
  return { initial, fields, text, setText, choose };
}

/** Returns the mutations that start a run or a test run, and show it. */
function useStart(workflow: StartableWorkflow, onDone: () => void, onStarted: Props['onStarted']) {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const onSuccess = (run: { run_id: string }) => {
    void queryClient.invalidateQueries();
    onDone();
    if (onStarted === undefined) router.push(`/workflows/${workflow.id}/runs/${run.run_id}`);
    else onStarted(run.run_id);
  };
  return {
    run: useMutation(trpc.workflows_execute_command.mutationOptions({ onSuccess })),
    test: useMutation(trpc.workflows_start_test_run.mutationOptions({ onSuccess })),
  };
}

/** Validates the values of a form, stores the problems by field, and focuses the first field with a problem. */
function useValidation(schema: JsonObject | null, setText: (change: (text: string) => string) => void) {
  const body = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(NO_PROBLEMS);
  useEffect(() => {
    if (schema !== null) setText(present => withDefaults(present, schema));
  }, [schema, setText]);
  useEffect(() => {
    if (problems.size > 0) body.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems]);
  const validate = (checked: JsonObject | null, input: InputObject) => {
    const found = checked === null ? NO_PROBLEMS : validateValues(checked, input);
    setProblems(found);
    return found.size === 0;
  };
  return { body, problems, validate };
}

function RunForm({
  workflow,
  onDone,
  saveDraft,
  onStarted,
}: {
  workflow: StartableWorkflow;
  onDone: () => void;
  saveDraft: Props['saveDraft'];
  onStarted: Props['onStarted'];
}) {
  const { initial, fields, text, setText, choose } = useRunInput(workflow);
  const schema = useInputSchema(workflow, saveDraft !== undefined);
  const [chosenJson, setAsJson] = useState<boolean | null>(null);
  const asJson = chosenJson ?? (schema === null && fields.length === 0);
  const { body, problems, validate } = useValidation(schema, setText);
  const [problem, setProblem] = useState<string | null>(null);
  const [stepProblem, setStepProblem] = useState<string | null>(null);
  const [opened, setOpened] = useState<readonly OpenedStep[]>([]);
  const [choices, setChoices] = useState<Choices>({ granted: new Set(), values: {} });
  const start = useStart(workflow, onDone, onStarted);
  const { error, isPending } = saveDraft ? start.test : start.run;
  const submit = async () => {
    const parsed = parseInput(text);
    setProblem('problem' in parsed ? parsed.problem : null);
    if ('problem' in parsed) return;
    const isForm = schema !== null && !asJson;
    const input = isForm ? (prune(parsed.input) as InputObject) : parsed.input;
    if (!validate(isForm ? schema : null, input)) return;
    keepInput(workflow.id, input);
    const trigger_steps = triggerSteps(opened, choices);
    const params = { trigger_payload: input, ...(Object.keys(trigger_steps).length > 0 && { trigger_steps }) };
    if (saveDraft === undefined) start.run.mutate({ id: workflow.id, command: 'start', params });
    else if (await saveDraft()) start.test.mutate({ id: workflow.id, params });
    else setProblem('The draft could not be saved, so it was not tested. See the status in the editor.');
  };
  const parsed = parseInput(text);
  return (
    <form
      ref={body}
      noValidate
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault();
        void submit();
      }}
    >
      <RunInput
        key={initial.count}
        autoFocus={initial.count === 0}
        fields={fields}
        schema={schema}
        problems={problems}
        initial={initial.input}
        text={text}
        asJson={asJson}
        onText={setText}
        onJson={setAsJson}
        onProblem={setProblem}
      />
      <SavedInputs
        workflowId={workflow.id}
        saved={workflow.run_setup.saved_inputs ?? []}
        input={'input' in parsed ? parsed.input : null}
        onChoose={choose}
      />
      {saveDraft ? null : (
        <StepSettings
          workflow={workflow}
          choices={choices}
          onLoad={setOpened}
          onChange={setChoices}
          onProblem={setStepProblem}
        />
      )}
      <Problem text={problem} />
      {error && readError(error).code === INSUFFICIENT_CREDITS ? (
        <CreditShortage kind="refused" />
      ) : (
        <FormError error={error} />
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          icon={<Play aria-hidden className="size-3.5" />}
          pending={isPending}
          disabled={(problem !== null && !asJson) || stepProblem !== null}
        >
          {saveDraft ? 'Start test run' : 'Start run'}
        </Button>
      </div>
    </form>
  );
}

function Problem({ text }: { text: string | null }) {
  if (text === null || text === '') return null;
  return (
    <p role="alert" className="text-sm text-bad">
      {text}
    </p>
  );
}

type InputProps = {
  autoFocus: boolean;
  fields: readonly InputField[];
  /** The schema of the form; null if the form shows `fields` of a sample. */
  schema: JsonObject | null;
  problems: ReadonlyMap<string, string>;
  initial: InputObject;
  text: string;
  asJson: boolean;
  onText: (text: string) => void;
  onJson: (asJson: boolean) => void;
  onProblem: (problem: string | null) => void;
};

/** Shows the input as fields or as JSON, two views of the same text. */
function RunInput({
  autoFocus,
  fields,
  schema,
  problems,
  initial,
  text,
  asJson,
  onText,
  onJson,
  onProblem,
}: InputProps) {
  const parsed = parseInput(text);
  return (
    <>
      {fields.length > 0 || schema !== null ? (
        <Checkbox
          label="Edit as JSON"
          checked={asJson}
          onCheckedChange={onJson}
          disabled={asJson && 'problem' in parsed}
        />
      ) : null}
      {asJson ? (
        <div className="h-60">
          <JsonEditor
            label="Input as JSON"
            value={text}
            onChange={onText}
            height="240px"
            autoFocus={autoFocus && fields.length === 0}
          />
        </div>
      ) : schema !== null ? (
        <>
          <JsonForm
            fields={formFields(schema)}
            values={'input' in parsed ? parsed.input : initial}
            problems={problems}
            onChange={next => onText(JSON.stringify(next, null, 2))}
          />
          <Problem text={problems.get('') ?? null} />
        </>
      ) : (
        <InputFields
          fields={fields}
          value={'input' in parsed ? parsed.input : initial}
          onChange={next => onText(JSON.stringify(next, null, 2))}
          onProblem={onProblem}
          autoFocus={autoFocus}
        />
      )}
    </>
  );
}
