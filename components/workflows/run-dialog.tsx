'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useMemo, useState } from 'react';
import { CreditShortage, INSUFFICIENT_CREDITS } from '../runs/credit-shortage.tsx';
import { readError } from '../trpc/errors.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Checkbox } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
import { InputFields } from './input-fields.tsx';
import { type Choices, type OpenedStep, triggerSteps } from './opened-steps.ts';
import { fieldsOf, type InputField, type InputObject, keepInput, lastInput, parseInput } from './run-input.ts';
import { StepSettings } from './step-settings.tsx';

// Half a megabyte that only those who edit JSON need; the dialog itself is on every page, behind the palette.
const JsonEditor = dynamic(() => import('../editor/json-editor.tsx').then(module => module.JsonEditor), { ssr: false });

export type StartableWorkflow = Pick<Outputs['workflows_get'], 'id' | 'name' | 'latest_version' | 'run_setup'>;
type Props = { workflow: StartableWorkflow | null; onClose: () => void };

/**
 * Starts a run of the latest version with an input, then shows it: a form where a sample tells the fields, JSON always. Open
 * while `workflow` is not null.
 */
export function RunDialog({ workflow, onClose }: Props) {
  return (
    <Dialog
      open={workflow !== null}
      onOpenChange={open => !open && onClose()}
      size="lg"
      title={`Run “${workflow?.name ?? ''}”`}
      description={`Version ${workflow?.latest_version ?? '–'} runs, not the draft.`}
    >
      {workflow ? <RunForm key={workflow.id} workflow={workflow} onDone={onClose} /> : null}
    </Dialog>
  );
}

function RunForm({ workflow, onDone }: { workflow: StartableWorkflow; onDone: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const sample = (workflow.run_setup.trigger_payload ?? {}) as InputObject;
  const initial = useMemo(() => lastInput(workflow.id) ?? sample, [workflow.id, sample]);
  const fields = useMemo(() => fieldsOf({ ...sample, ...initial }), [sample, initial]);
  const [asJson, setAsJson] = useState(fields.length === 0);
  const [text, setText] = useState(() => JSON.stringify(initial, null, 2));
  const [problem, setProblem] = useState<string | null>(null);
  const [stepProblem, setStepProblem] = useState<string | null>(null);
  const [opened, setOpened] = useState<readonly OpenedStep[]>([]);
  const [choices, setChoices] = useState<Choices>({ granted: new Set(), values: {} });
  const start = useMutation(
    trpc.workflows_execute_command.mutationOptions({
      onSuccess: run => {
        void queryClient.invalidateQueries();
        onDone();
        router.push(`/workflows/${workflow.id}/runs/${run.run_id}`);
      },
    }),
  );
  const submit = () => {
    const parsed = parseInput(text);
    setProblem('problem' in parsed ? parsed.problem : null);
    if ('problem' in parsed) return;
    keepInput(workflow.id, parsed.input);
    const trigger_steps = triggerSteps(opened, choices);
    const params = { trigger_payload: parsed.input, ...(Object.keys(trigger_steps).length > 0 && { trigger_steps }) };
    start.mutate({ id: workflow.id, command: 'start', params });
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault();
        submit();
      }}
    >
      <RunInput
        fields={fields}
        initial={initial}
        text={text}
        asJson={asJson}
        onText={setText}
        onJson={setAsJson}
        onProblem={setProblem}
      />
      <StepSettings
        workflow={workflow}
        choices={choices}
        onLoad={setOpened}
        onChange={setChoices}
        onProblem={setStepProblem}
      />
      {problem ? (
        <p role="alert" className="text-sm text-bad">
          {problem}
        </p>
      ) : null}
      {start.error && readError(start.error).code === INSUFFICIENT_CREDITS ? (
        <CreditShortage kind="refused" />
      ) : (
        <FormError error={start.error} />
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          type="submit"
          variant="primary"
          icon={<Play aria-hidden className="size-3.5" />}
          pending={start.isPending}
          disabled={(problem !== null && !asJson) || stepProblem !== null}
        >
          Start run
        </Button>
      </div>
    </form>
  );
}

type InputProps = {
  fields: readonly InputField[];
  initial: InputObject;
  text: string;
  asJson: boolean;
  onText: (text: string) => void;
  onJson: (asJson: boolean) => void;
  onProblem: (problem: string | null) => void;
};

/** Shows the input as fields or as JSON, two views of the same text. */
function RunInput({ fields, initial, text, asJson, onText, onJson, onProblem }: InputProps) {
  const parsed = parseInput(text);
  return (
    <>
      {fields.length > 0 ? (
        <Checkbox
          label="Edit as JSON"
          checked={asJson}
          onCheckedChange={onJson}
          disabled={asJson && 'problem' in parsed}
        />
      ) : null}
      {asJson ? (
        <div className="h-60">
          <JsonEditor label="Input as JSON" value={text} onChange={onText} height="240px" />
        </div>
      ) : (
        <InputFields
          fields={fields}
          value={'input' in parsed ? parsed.input : initial}
          onChange={next => onText(JSON.stringify(next, null, 2))}
          onProblem={onProblem}
          autoFocus
        />
      )}
    </>
  );
}
