'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import type { FieldText } from '../ui/read-fields.ts';
import { exampleGraph } from './example.ts';
import { type Start, StartFrom, useTemplates } from './start-from.tsx';
import { type Chosen, TemplateNeeds, useTemplateOptions } from './template-needs.tsx';
import { graphOf, type PartnerIds, sampleInputOf, type Template } from './templates/template.ts';
import { useCreateWorkflow } from './use-create-workflow.ts';

type DialogProps = {
  open: boolean;
  /** The slug of the initially chosen template; empty: none. */
  from?: string;
  onOpenChange: (open: boolean) => void;
};

/** Creates a draft and opens it. */
export function CreateWorkflowDialog({ open, from = '', onOpenChange }: DialogProps) {
  const trpc = useTRPC();
  const router = useRouter();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [start, setStart] = useState<Start>('empty');
  const [chosen, setChosen] = useState<Chosen>({});
  const [problem, setProblem] = useState<string | null>(null);
  const template = typeof start === 'string' ? null : start;
  const options = useTemplateOptions(template);
  const create = useCreateWorkflow(workflow => {
    void queries.invalidateQueries(trpc.workflows_list.queryFilter());
    router.push(`/workflows/${workflow.id}`);
  });
  const choose = (next: Start) => {
    // The template's name is a suggestion, and never replaces typed text.
    const suggested = template?.name ?? '';
    if (name === '' || name === suggested) setName(typeof next === 'string' ? '' : next.name);
    setStart(next);
    setChosen({});
  };
  const templates = useTemplates();
  const first = template === null && from !== '' ? templates?.find(({ slug }) => slug === from) : undefined;
  const [isBegun, setIsBegun] = useState(false);
  if (first !== undefined && !isBegun) {
    setIsBegun(true);
    choose(first);
  }
  const submit = (text: FieldText) => {
    const name = text('name');
    const description = text('description');
    setProblem(name ? null : 'Enter a name.');
    if (!name) return;
    if (template === null) {
      const graph = start === 'example' ? exampleGraph : { steps: [] };
      create.mutate({ template, name, description, graphOf: () => graph });
    } else {
      const plan = planOf(template, chosen, options);
      create.mutate({ template, name, description: description || template.sentence, ...plan });
    }
  };
  return (
    <FormDialog
      open={open}
      onClose={() => onOpenChange(false)}
      title="Create workflow"
      size="lg"
      action="Create"
      pending={create.isPending || create.isSuccess}
      disabled={options.demoApi === undefined}
      error={create.error}
      noValidate
      onSubmit={submit}
    >
      <Field label="Name" required error={problem}>
        <Input
          name="name"
          value={name}
          onChange={event => setName(event.target.value)}
          maxLength={200}
          autoComplete="off"
          autoFocus
        />
      </Field>
      <Field label="Description" optional>
        <Textarea name="description" rows={2} maxLength={2000} />
      </Field>
      <StartFrom value={start} onChange={choose} />
      {template ? (
        <TemplateNeeds key={template.slug} template={template} options={options} chosen={chosen} onChange={setChosen} />
      ) : null}
    </FormDialog>
  );
}

/** Returns the graph and input of a template. Without a choice, it uses the first instance and the first model. */
function planOf(template: Template, chosen: Chosen, options: ReturnType<typeof useTemplateOptions>) {
  const instanceId = chosen.instanceId ?? options.instances?.[0]?.value ?? null;
  const model = chosen.model ?? options.models?.[0]?.value ?? null;
  return {
    graphOf: (partners: PartnerIds) => graphOf(template, { instanceId, model, partners }),
    run_setup: { trigger_payload: sampleInputOf(template, options.demoApi ?? null) },
  };
}
