import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { type Inputs, type Outputs, useTRPCClient } from '../trpc/provider.tsx';
import type { PartnerIds, Template } from './templates/template.ts';

type Created = Outputs['workflows_create'];
/** A workflow to create; `graphOf` receives the ids of the partners of its template. */
type Plan = Pick<Inputs['workflows_create'], 'name' | 'description' | 'run_setup'> & {
  template: Template | null;
  graphOf: (partners: PartnerIds) => Inputs['workflows_create']['graph'];
};
/** The partners of a workflow that is not created yet. */
type Waiting = { slug: string; created: PartnerIds; published: PartnerIds };

const ROLES = ['child', 'handler'] as const;

/**
 * Creates a workflow, and first the partners of its template. Partners are also published, because other workflows start only published
 * versions. If a call fails, the created partners are complete, and the next attempt continues with them. Each workflow gets its own
 * partners, because an existing one may have been changed.
 */
export function useCreateWorkflow(onCreated: (workflow: Created) => void) {
  const client = useTRPCClient();
  const waiting = useRef<Waiting | null>(null);
  const partnersOf = async (template: Template): Promise<PartnerIds> => {
    const { slug, name } = template;
    if (waiting.current?.slug !== slug) waiting.current = { slug, created: {}, published: {} };
    const { created, published } = waiting.current;
    for (const role of ROLES) {
      const partner = template[role];
      if (partner === undefined || published[role] !== undefined) continue;
      const { sentence: description, ...rest } = partner;
      created[role] ??= (await client.workflows_create.mutate({ ...rest, description })).id;
      await client.workflows_publish_version.mutate({
        id: created[role],
        changelog: `Created for the template ${name}`,
      });
      published[role] = created[role];
    }
    return published;
  };
  return useMutation({
    mutationFn: async ({ template, graphOf, ...workflow }: Plan) => {
      const partners = template === null ? {} : await partnersOf(template);
      return client.workflows_create.mutate({ ...workflow, graph: graphOf(partners) });
    },
    onSuccess: workflow => {
      waiting.current = null;
      onCreated(workflow);
    },
  });
}
