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
import { Checkbox, Field, Input, Textarea } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
import {
  fieldsOf,
  fieldText,
  type InputField,
  type InputObject,
  keepInput,
  lastInput,
  parseInput,
  readField,
} from './run-input.ts';

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
    start.mutate({ id: workflow.id, command: 'start', params: { trigger_payload: parsed.input } });
  };
  const parsed = parseInput(text);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault();
        submit();
      }}
    >
      {fields.length > 0 ? (
        <Checkbox
          label="Edit as JSON"
          checked={asJson}
          onCheckedChange={setAsJson}
          disabled={asJson && 'problem' in parsed}
        />
      ) : null}
      {asJson ? (
        <div className="h-60">
          <JsonEditor label="Input as JSON" value={text} onChange={setText} height="240px" />
        </div>
      ) : (
        <InputFields
          fields={fields}
          value={'input' in parsed ? parsed.input : initial}
          onChange={next => setText(JSON.stringify(next, null, 2))}
          onProblem={setProblem}
        />
      )}
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
          disabled={problem !== null && !asJson}
        >
          Start run
        </Button>
      </div>
    </form>
  );
}

type FieldsProps = {
  fields: readonly InputField[];
  value: InputObject;
  onChange: (value: InputObject) => void;
  onProblem: (problem: string | null) => void;
};

function InputFields({ fields, value, onChange, onProblem }: FieldsProps) {
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(fields.map(field => [field.name, fieldText(value[field.name])])),
  );
  const [problems, setProblems] = useState<Record<string, string>>({});
  const edit = (field: InputField, text: string) => {
    setTexts({ ...texts, [field.name]: text });
    const read = readField(field, text);
    const { [field.name]: _, ...others } = problems;
    const next = 'problem' in read ? { ...others, [field.name]: read.problem } : others;
    setProblems(next);
    onProblem(Object.keys(next).length > 0 ? 'Some fields are not valid yet.' : null);
    if ('problem' in read) return;
    const { [field.name]: __, ...rest } = value;
    onChange(read.value === undefined ? rest : { ...value, [field.name]: read.value });
  };
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {fields.map((field, index) =>
        field.kind === 'boolean' ? (
          <Checkbox
            key={field.name}
            label={field.name}
            checked={value[field.name] === true}
            onCheckedChange={checked => onChange({ ...value, [field.name]: checked })}
          />
        ) : (
          <Field key={field.name} label={field.name} error={problems[field.name]}>
            {field.kind === 'json' || (texts[field.name] ?? '').length > 60 ? (
              <Textarea
                rows={3}
                value={texts[field.name] ?? ''}
                onChange={event => edit(field, event.target.value)}
                className={field.kind === 'json' ? 'font-mono text-xs' : undefined}
              />
            ) : (
              <Input
                autoFocus={index === 0}
                value={texts[field.name] ?? ''}
                inputMode={field.kind === 'number' ? 'decimal' : undefined}
                onChange={event => edit(field, event.target.value)}
              />
            )}
          </Field>
        ),
      )}
    </div>
  );
}
