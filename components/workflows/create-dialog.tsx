'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { RadioGroup } from 'radix-ui';
import { useId, useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import type { FieldText } from '../ui/read-fields.ts';
import { exampleGraph } from './example.ts';

const starts = [
  { value: 'empty', label: 'Empty', hint: 'A blank canvas.' },
  { value: 'example', label: 'Example', hint: 'A script, a condition and an approval, ready to publish and run.' },
] as const;
type Start = (typeof starts)[number]['value'];

/** Creates a draft and opens it. */
export function CreateWorkflowDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queries = useQueryClient();
  const [start, setStart] = useState<Start>('empty');
  const [problem, setProblem] = useState<string | null>(null);
  const create = useMutation(
    trpc.workflows_create.mutationOptions({
      onSuccess: workflow => {
        void queries.invalidateQueries(trpc.workflows_list.queryFilter());
        router.push(`/workflows/${workflow.id}`);
      },
    }),
  );
  const submit = (text: FieldText) => {
    const name = text('name');
    const description = text('description');
    setProblem(name ? null : 'Enter a name.');
    if (name) create.mutate({ name, description, graph: start === 'example' ? exampleGraph : { steps: [] } });
  };
  return (
    <FormDialog
      open={open}
      onClose={() => onOpenChange(false)}
      title="Create workflow"
      action="Create"
      pending={create.isPending || create.isSuccess}
      error={create.error}
      noValidate
      onSubmit={submit}
    >
      <Field label="Name" required error={problem}>
        <Input name="name" maxLength={200} autoComplete="off" autoFocus />
      </Field>
      <Field label="Description" optional>
        <Textarea name="description" rows={2} maxLength={2000} />
      </Field>
      <StartFrom value={start} onChange={setStart} />
    </FormDialog>
  );
}

function StartFrom({ value, onChange }: { value: Start; onChange: (value: Start) => void }) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <p id={id} className="text-sm font-medium">
        Start from
      </p>
      <RadioGroup.Root
        aria-labelledby={id}
        value={value}
        onValueChange={next => onChange(next as Start)}
        className="grid gap-2 sm:grid-cols-2"
      >
        {starts.map(option => (
          <RadioGroup.Item
            key={option.value}
            value={option.value}
            aria-label={option.label}
            aria-describedby={`${id}-${option.value}`}
            className="rounded-md border bg-surface p-3 text-left hover:bg-hover data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft"
          >
            <span className="block text-sm font-medium">{option.label}</span>
            <span id={`${id}-${option.value}`} className="block text-xs text-muted">
              {option.hint}
            </span>
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
    </div>
  );
}
