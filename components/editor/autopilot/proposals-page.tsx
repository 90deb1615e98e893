'use client';
import { useRouter } from 'next/navigation';
import { proposalHref } from '../../chat/proposal-href.ts';
import { Card } from '../../ui/card.tsx';
import { Page, PageHeader } from '../../ui/page.tsx';
import type { ProposalHead } from './proposal.ts';
import { ProposalList } from './proposal-list.tsx';

/** Lists the proposals that assistants have made in this project. */
export function ProposalsPage() {
  const router = useRouter();
  const onOpen = ({ id, workflow_id }: ProposalHead) => router.push(proposalHref(id, workflow_id));
  return (
    <Page>
      <PageHeader parent={{ href: '/workflows', label: 'Workflows' }} title="Proposals" />
      <Card flush>
        <ProposalList onOpen={onOpen} />
      </Card>
    </Page>
  );
}
