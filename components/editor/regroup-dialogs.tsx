'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Draft, Graph } from '../../server/domains/workflows/edits/index.ts';
import { extractWorkflow, inlineWorkflow } from '../../server/domains/workflows/edits/regroup.ts';
import { type Inputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { toast } from '../ui/toaster.tsx';
import { freeStepId } from './editor-actions.ts';
import type { StepsStore } from './loop-store.ts';
import type { Editor } from './use-editor.ts';

export type RegroupProps = { workflowId: string; store: StepsStore; editor: Editor; onClose: () => void };

/** Extracts the selected steps into a new workflow, or replaces the selected call with the steps of the called workflow. */
export function RegroupDialog(props: RegroupProps) {
  const { editor, store } = props;
  const [ids] = useState(() => [...editor.selected]);
  const [first, ...others] = store.state.draft.graph.steps.filter(({ id }) => ids.includes(id));
  if (first === undefined) return null;
  return others.length === 0 && first.type === 'call_workflow' ? (
    <InlineDialog {...props} step={first.id} />
  ) : (
    <ExtractDialog {...props} ids={ids} />
  );
}

const UNKNOWN = '00000000-0000-0000-0000-000000000000';

function ExtractDialog({ workflowId, store, editor, onClose, ids }: RegroupProps & { ids: readonly string[] }) {
  const client = useTRPCClient();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { draft } = store.state;
  const [initial] = useState(() => nameFor(draft, ids));
  const [name, setName] = useState(initial);
  const plan = (workflow: string) => {
    const call = { step: freeStepId(draft, 'call_workflow', store.reservedIds), workflow, name: name.trim() };
    return extractWorkflow(draft, ids, call, store.aroundIds);
  };
  const planned = plan(UNKNOWN);
  const extract = useMutation({
    mutationFn: async () => {
      if (!planned.ok) throw new Error(planned.message);
      const graph = planned.graph as Inputs['workflows_create']['graph'];
      // A workflow that cannot be published could not be called, so it is validated before anything is created.
      const report = await client.workflows_validate.mutate({ id: workflowId, graph });
      const [error] = report.errors;
      if (error !== undefined)
        throw new Error(
          `Mend the steps first${error.step_id === null ? '' : `: “${error.step_id}”`}. ${error.message}`,
        );
      const created = await client.workflows_create.mutate({ name: name.trim(), graph });
      await client.workflows_publish_version.mutate({ id: created.id, changelog: 'Extracted from another workflow' });
      return created;
    },
    onSuccess: created => {
      const result = plan(created.id);
      if (editor.regroup(result) && result.ok) editor.show([result.step]);
      toast.success(`${created.name} is published, and called here`);
      void queryClient.invalidateQueries({ queryKey: trpc.workflows_list.pathKey() });
      onClose();
    },
  });
  return (
    <FormDialog
      title="Extract a sub-workflow"
      description={
        ids.length === 1
          ? 'The step becomes a workflow of its own, which other workflows can call, too.'
          : `The ${ids.length} steps become a workflow of their own, which other workflows can call, too.`
      }
      action="Extract and publish"
      pending={extract.isPending}
      disabled={!planned.ok || name.trim() === ''}
      error={extract.error}
      onClose={onClose}
      onSubmit={() => extract.mutate()}
    >
      {planned.ok ? (
        <>
          <Field label="Name" required>
            <Input value={name} maxLength={200} autoFocus onChange={event => setName(event.target.value)} />
          </Field>
          <p className="text-sm text-muted">
            It is published at once, because only published workflows can be called. This draft gets a step that calls
            it, and stays a draft.
          </p>
          <PassedValues
            graph={planned.graph}
            input={planned.draft.graph.steps.find(({ id }) => id === planned.step)?.input}
          />
        </>
      ) : (
        <p role="alert" className="text-sm text-bad">
          {planned.message}
        </p>
      )}
    </FormDialog>
  );
}

/** The names of the values that the call passes and returns. */
function PassedValues({ graph, input }: { graph: Graph; input: unknown }) {
  const names = (value: unknown) => (typeof value === 'object' && value !== null ? Object.keys(value) : []);
  const [given, taken] = [names(input), names(graph.output)];
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1 text-sm">
      <dt className="text-muted">Input</dt>
      <dd className="wrap-anywhere">{given.length === 0 ? 'None' : given.join(', ')}</dd>
      <dt className="text-muted">Output</dt>
      <dd className="wrap-anywhere">{taken.length === 0 ? 'None is read here' : taken.join(', ')}</dd>
    </dl>
  );
}

function nameFor(draft: Draft, ids: readonly string[]): string {
  const [step] = draft.graph.steps.filter(({ id }) => ids.includes(id));
  const first = typeof step?.name === 'string' && step.name !== '' ? step.name : (step?.id ?? '');
  return `${draft.name}: ${first}`.slice(0, 200);
}

function InlineDialog({ store, editor, onClose, step }: RegroupProps & { step: string }) {
  const client = useTRPCClient();
  const inline = useMutation({
    mutationFn: async () => {
      const call = store.state.draft.graph.steps.find(({ id }) => id === step);
      const id = String(call?.workflow_id ?? '');
      if (id === '' || id.includes('{{'))
        throw new Error('The workflow is chosen when the step starts, so its steps are not known here.');
      const { latest_version: latest } = await client.workflows_get.query({ id });
      const version = typeof call?.version === 'number' ? call.version : latest;
      if (version === null) throw new Error('The called workflow has not been published.');
      const { graph_snapshot } = await client.workflows_get_version.query({ id, version });
      const { reservedIds = [], depth = 0 } = store;
      const { draft } = store.state;
      const graph = graph_snapshot as Graph;
      const result = inlineWorkflow(draft, step, { graph, reserved: reservedIds, depth });
      if (!result.ok) throw new Error(result.message);
      return result;
    },
    onSuccess: result => {
      if (editor.regroup(result)) editor.show([result.step]);
      onClose();
    },
  });
  return (
    <FormDialog
      title="Replace by the workflow's steps"
      description="The steps of the called version take the place of the step that calls it. The called workflow stays as it is."
      action="Replace"
      pending={inline.isPending}
      error={inline.error}
      onClose={onClose}
      onSubmit={() => inline.mutate()}
    >
      {null}
    </FormDialog>
  );
}
