'use client';
import { useQuery } from '@tanstack/react-query';
import { BrainCircuit, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { EmptyState } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { KeyDialog } from './key-dialog.tsx';
import { KeyRow } from './key-row.tsx';
import { ModelTable } from './model-table.tsx';

/** The model keys of the project and the workspace, and the available models. */
export function ModelKeys() {
  const { canWrite } = usePermissions();
  const [adding, setAdding] = useState(false);
  const add = (
    <Button variant="primary" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => setAdding(true)}>
      Add key
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Model keys"
        description="Keys that LLM steps use. If a provider has several, the project’s newest key is used, or else the newest shared key."
        actions={canWrite ? add : null}
      />
      <div className="flex flex-col gap-6">
        {canWrite ? <Keys add={add} /> : null}
        <ModelTable />
      </div>
      {adding ? <KeyDialog onClose={() => setAdding(false)} /> : null}
    </Page>
  );
}

function Keys({ add }: { add: ReactNode }) {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const cursor = get('cursor');
  const list = useQuery(trpc.llm_provider_keys_list.queryOptions({ limit: 50, ...(cursor ? { cursor } : {}) }));
  return (
    <ListCard
      label="Model keys"
      columns={['Name', 'Owner', 'Provider', 'Server', 'Status', 'Last used', 'Key set', '']}
      query={list}
      items={list.data?.keys}
      next={list.data?.next_cursor}
      row={key => <KeyRow key={key.id} modelKey={key} />}
      skeletonRows={2}
      empty={
        <EmptyState icon={BrainCircuit} title="No model keys yet" action={add}>
          LLM steps need a provider key or your own model server. The key is stored in the secret store and never shown
          again.
        </EmptyState>
      }
    />
  );
}
