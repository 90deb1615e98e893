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

// Half a megabyte that only those who edit JSON need; the dialog itself is on every page, behind the palette.
const JsonEditor = dynamic(() => import('../code/json-editor.tsx').then(module => module.JsonEditor), { ssr: false });

export type StartableWorkflow = Pick<
  Outputs['workflows_get'],
  'id' | 'name' | 'latest_version' | 'run_setup' | 'graph'
>;
type Props = {
  workflow: StartableWorkflow | null;
  onClose: () => void;
  /** Given where the draft is to be tested instead; returns whether the server has the draft as it is shown. */
  saveDraft?: () => Promise<boolean>;
  /** Shows the run that was started. Default: its page is opened. */
  onStarted?: (runId: string) => void;
};

/**
 * Starts a run of the latest version with an input, or a test run of the draft, then shows it: a form where a sample tells the
 * fields, JSON always. Open while `workflow` is not null.
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

/** The input as text, and the fields that a sample of it tells. */
function useRunInput(workflow: StartableWorkflow) {
  const sample = (workflow.run_setup.trigger_payload ?? {}) as InputObject;
  // A chosen input is a new beginning, with fields of its own.
  const [begun, setBegun] = useState(() => ({ input: lastInput(workflow.id) ?? sample, count: 0 }));
  const fields = useMemo(() => fieldsOf({ ...sample, ...begun.input }), [sample, begun]);
  const [text, setText] = useState(() => JSON.stringify(begun.input, null, 2));
  const choose = (input: InputObject) => {
    setBegun({ input, count: begun.count + 1 });
    setText(JSON.stringify(input, null, 2));
  };
  return { begun, fields, text, setText, choose };
}

/** Starts what the dialog is about, and shows it. */
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

/** Checks the values of a form and keeps the problems by field. The first field with a problem then takes the focus. */
function useFitting(schema: JsonObject | null, setText: (change: (text: string) => string) => void) {
  const body = useRef<HTMLFormElement>(null);
  const [unfit, setUnfit] = useState<ReadonlyMap<string, string>>(NO_PROBLEMS);
  useEffect(() => {
    if (schema !== null) setText(present => withDefaults(present, schema));
  }, [schema, setText]);
  useEffect(() => {
    if (unfit.size > 0) body.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [unfit]);
  const fits = (checked: JsonObject | null, input: InputObject) => {
    const found = checked === null ? NO_PROBLEMS : validateValues(checked, input);
    setUnfit(found);
    return found.size === 0;
  };
  return { body, unfit, fits };
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
  const { begun, fields, text, setText, choose } = useRunInput(workflow);
  const schema = useInputSchema(workflow, saveDraft !== undefined);
  const [chosenJson, setAsJson] = useState<boolean | null>(null);
  const asJson = chosenJson ?? (schema === null && fields.length === 0);
  const { body, unfit, fits } = useFitting(schema, setText);
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
    if (!fits(isForm ? schema : null, input)) return;
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
        key={begun.count}
        autoFocus={begun.count === 0}
        fields={fields}
        schema={schema}
        problems={unfit}
        initial={begun.input}
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
  /** The fields of the form where there is one; otherwise `fields`, which a sample tells. */
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
