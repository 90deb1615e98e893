import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { type Inputs, type Outputs, useTRPCClient } from '../trpc/provider.tsx';
import type { Template } from './templates/template.ts';

type Created = Outputs['workflows_create'];
/** A workflow to create; `graphOf` receives the id of the child of the template, where it has one. */
type Plan = Pick<Inputs['workflows_create'], 'name' | 'description' | 'run_setup'> & {
  template: Template | null;
  graphOf: (childId: string | null) => Inputs['workflows_create']['graph'];
};
/** A child whose parent is not created yet. */
type Child = { slug: string; id: string; isPublished: boolean };

/**
 * Creates a workflow, and before it the one that its template calls, which is also published: `call_workflow` starts
 * published versions only. If a call fails, what is left is a child that is complete by itself, and the next attempt
 * continues with that child. Each parent has a child of its own: one that already exists may have been changed.
 */
export function useCreateWorkflow(onCreated: (workflow: Created) => void) {
  const client = useTRPCClient();
  const waiting = useRef<Child | null>(null);
  const childOf = async ({ slug, name, child }: Template): Promise<string | null> => {
    if (child === undefined) return null;
    if (waiting.current?.slug !== slug) {
      const { sentence: description, ...rest } = child;
      const { id } = await client.workflows_create.mutate({ ...rest, description });
      waiting.current = { slug, id, isPublished: false };
    }
    const { id, isPublished } = waiting.current;
    if (!isPublished) {
      await client.workflows_publish_version.mutate({ id, changelog: `Created for the template ${name}` });
      waiting.current = { slug, id, isPublished: true };
    }
    return id;
  };
  return useMutation({
    mutationFn: async ({ template, graphOf, ...workflow }: Plan) => {
      const childId = template === null ? null : await childOf(template);
      return client.workflows_create.mutate({ ...workflow, graph: graphOf(childId) });
    },
    onSuccess: workflow => {
      waiting.current = null;
      onCreated(workflow);
    },
  });
}
