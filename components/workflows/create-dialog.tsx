'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { RadioGroup } from 'radix-ui';
import { type FormEvent, useId, useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
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
  const formId = useId();
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
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const name = String(form.get('name') ?? '').trim();
    const description = String(form.get('description') ?? '').trim();
    setProblem(name ? null : 'Give it a name.');
    if (name) create.mutate({ name, description, graph: start === 'example' ? exampleGraph : { steps: [] } });
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create workflow"
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button variant="primary" type="submit" form={formId} pending={create.isPending || create.isSuccess}>
            Create
          </Button>
        </>
      }
    >
      <form id={formId} noValidate onSubmit={submit} className="flex flex-col gap-4">
        <FormError error={create.error} />
        <Field label="Name" required error={problem}>
          <Input name="name" maxLength={200} autoComplete="off" />
        </Field>
        <Field label="Description" optional>
          <Textarea name="description" rows={2} maxLength={2000} />
        </Field>
        <StartFrom value={start} onChange={setStart} />
      </form>
    </Dialog>
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
