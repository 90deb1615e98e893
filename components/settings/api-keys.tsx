'use client';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { EmptyState, NeedsContributor } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { ApiKeyRow } from './api-key-row.tsx';
import { CreateApiKeyDialog } from './create-api-key.tsx';

/** The personal access tokens of the project: the user's own, or all of them for an admin. */
export function ApiKeys() {
  const { canWrite } = usePermissions();
  const [creating, setCreating] = useState(false);
  const create = (
    <Button variant="primary" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => setCreating(true)}>
      Create API key
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="API keys"
        description="A key acts as its user in this project, limited to its scopes and the user’s role."
        actions={canWrite ? create : null}
      />
      {canWrite ? <Keys create={create} /> : <NeedsContributor icon={KeyRound} what="API keys" />}
      <CreateApiKeyDialog open={creating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function Keys({ create }: { create: ReactNode }) {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const cursor = get('cursor');
  const list = useQuery(trpc.pats_list.queryOptions({ limit: 50, ...(cursor ? { cursor } : {}) }));
  return (
    <ListCard
      label="API keys"
      columns={['Name', 'Scopes', 'Acts as', 'Created', 'Last used', 'Expires', '']}
      query={list}
      items={list.data?.pats}
      next={list.data?.next_cursor}
      row={pat => <ApiKeyRow key={pat.id} pat={pat} />}
      skeletonRows={3}
      empty={
        <EmptyState icon={KeyRound} title="No API keys yet" action={create}>
          Scripts, CI and assistants use a key to call the API. It is shown once, when you create it.
        </EmptyState>
      }
    />
  );
}
