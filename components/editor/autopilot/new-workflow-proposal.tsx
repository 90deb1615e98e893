'use client';
import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useMemo } from 'react';
import { proposalHref } from '../../chat/proposal-href.ts';
import type { GraphStepInput } from '../../graph/layout.ts';
import { usePermissions } from '../../session/session.tsx';
import { useTRPC } from '../../trpc/provider.tsx';
import { Card } from '../../ui/card.tsx';
import { Page, PageHeader } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { ProposalView } from './proposal-view.tsx';

const WorkflowGraph = dynamic(() => import('../../graph/workflow-graph.tsx').then(module => module.WorkflowGraph), {
  ssr: false,
  loading: () => <Skeleton className="h-full w-full" />,
});

const graphClass = 'h-[60dvh] lg:h-[68dvh]';

/** The page of a proposal for a new workflow. Once the proposal is applied, the workflow's page is opened. */
export function NewWorkflowProposal({ id }: { id: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const url = useUrlState();
  const { canWrite } = usePermissions();
  const { data, isError } = useQuery(trpc.autopilot_get_proposal.queryOptions({ id }));
  const target = useMemo(
    () => ({
      save: () => Promise.resolve({ kind: 'saved' }),
      take: (workflow: { id: string }) => router.push(proposalHref(id, workflow.id)),
    }),
    [id, router],
  );
  const graph = data?.draft.graph;
  return (
    <Page>
      <PageHeader parent={{ href: '/workflows/proposals', label: 'Proposals' }} title={data?.title ?? 'Proposal'} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_360px]">
        {graph ? (
          <div className={graphClass}>
            <WorkflowGraph
              label="Graph of the proposal"
              steps={graph.steps as readonly GraphStepInput[]}
              notes={graph.notes}
              selected={url.get('step') || null}
              onSelect={step => url.set({ step: step ?? undefined })}
            />
          </div>
        ) : isError ? null : (
          <Skeleton className={graphClass} />
        )}
        <Card>
          <ProposalView
            id={id}
            target={target}
            editable={canWrite}
            onClose={() => router.push('/workflows/proposals')}
          />
        </Card>
      </div>
    </Page>
  );
}
