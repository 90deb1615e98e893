'use client';
import { Sparkles } from 'lucide-react';
import { useTRPC, useTRPCClient } from '../../trpc/provider.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ReadOn } from '../../ui/pager.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { useCursorPages } from '../../ui/use-cursor-pages.ts';
import { type ProposalHead, statusLooks } from './proposal.ts';
import { useNames } from './use-names.ts';

/** The polling interval for new proposals of assistants. */
const REFRESH_MS = 5_000;

type Props = {
  /** The workflow; absent: lists the proposals of the whole project. */
  workflowId?: string;
  onOpen: (proposal: ProposalHead) => void;
};

/** Lists the proposals of a workflow or of the project, newest first, with their title, status and author. */
export function ProposalList({ workflowId, onOpen }: Props) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const nameOf = useNames();
  const list = useCursorPages(
    [...trpc.autopilot_list_proposals.pathKey(), workflowId ?? ''],
    from =>
      client.autopilot_list_proposals.query({ ...(workflowId && { workflow_id: workflowId }), limit: 20, ...from }),
    () => REFRESH_MS,
  );
  if (list.isPending) return <Skeleton className="m-4 h-40" />;
  if (list.isError && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const proposals = list.data.pages.flatMap(page => page.proposals);
  if (proposals.length === 0)
    return (
      <EmptyState icon={Sparkles} title="No proposals yet">
        Autopilot proposes changes to workflows, and so do assistants connected through MCP or the API. Review them on
        the graph, try them, and apply all or some of them. Until then, the draft does not change.
      </EmptyState>
    );
  return (
    <section aria-label="Proposals">
      <ol className="divide-y">
        {proposals.map(proposal => (
          <li key={proposal.id}>
            <button
              type="button"
              onClick={() => onOpen(proposal)}
              className="flex w-full flex-col gap-1 px-4 py-3 text-left hover:bg-hover"
            >
              <span className="flex w-full items-start gap-2">
                <span className="min-w-0 flex-1 text-sm font-medium wrap-anywhere">{proposal.title}</span>
                {proposal.workflow_id === null ? <Badge>New workflow</Badge> : null}
                <Badge tone={statusLooks[proposal.status].tone}>{statusLooks[proposal.status].label}</Badge>
              </span>
              <ProposalAuthor proposal={proposal} nameOf={nameOf} />
            </button>
          </li>
        ))}
      </ol>
      <ReadOn list={list}>Older proposals</ReadOn>
    </section>
  );
}

/** Shows the person who applied a proposal, or else the person who proposed it, with the time. */
export function ProposalAuthor({ proposal, nameOf }: { proposal: ProposalHead; nameOf: (email: string) => string }) {
  const { applied_by: by, applied_at: at, status } = proposal;
  const isApplied = by !== null && at !== null;
  return (
    <span className="text-xs text-muted">
      {isApplied ? `Applied by ${nameOf(by)}` : `Proposed by ${nameOf(proposal.created_by)}`} ·{' '}
      <RelativeTime at={isApplied ? at : proposal.created_at} />
      {status === 'undone' ? (
        <>
          , undone <RelativeTime at={proposal.updated_at} />
        </>
      ) : null}
    </span>
  );
}
