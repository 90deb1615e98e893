'use client';
import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { MissingKey } from '../models/missing-key.tsx';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Page, PageHeader, PageSkeleton } from '../ui/page.tsx';
import { ErrorState, FormError } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { AgentActions } from './agent-actions.tsx';
import type { Agent } from './agent-draft.ts';
import { AgentForm } from './agent-form.tsx';
import { AgentStatus } from './agent-status.tsx';
import { AgentsOff } from './agents-off.tsx';
import { TestPanel } from './test-panel.tsx';
import { type AgentEditing, useAgentDraft } from './use-agent-draft.ts';

const AgentVersions = dynamic(() => import('./agent-versions.tsx').then(module => module.AgentVersions), {
  ssr: false,
});
const AgentGrants = dynamic(() => import('./grant-list.tsx').then(module => module.AgentGrants), { ssr: false });
const AgentProblems = dynamic(() => import('./agent-problems.tsx').then(module => module.AgentProblems), {
  ssr: false,
});

const parent = { href: '/agents', label: 'Agents' };
const tabNames = ['settings', 'versions', 'grants', 'problems'] as const;

/** The page of an agent: its settings with a test beside them, its versions, its grants and its recent problems. */
export function AgentPage({ id }: { id: string }) {
  return useSession().me.agents ? <OneAgent id={id} /> : <AgentsOff title="Agent" />;
}

function OneAgent({ id }: { id: string }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.agents_get.queryOptions({ id }, { refetchInterval: 10_000 }));
  if (query.data) return <Loaded key={id} agent={query.data} />;
  if (!query.isError) return <PageSkeleton />;
  return (
    <Page>
      <PageHeader title="Agent" parent={parent} />
      <ErrorState error={query.error} onRetry={() => void query.refetch()} />
    </Page>
  );
}

function Loaded({ agent }: { agent: Agent }) {
  const url = useUrlState();
  const editing = useAgentDraft(agent);
  const { canWrite } = usePermissions();
  const tab = tabNames.find(name => name === url.get('tab')) ?? 'settings';
  return (
    <Page>
      <PageHeader
        title={agent.name}
        parent={parent}
        actions={
          <>
            <AgentStatus status={agent.status} />
            <span className="text-sm text-muted tabular-nums">v{agent.version}</span>
            <AgentActions agent={agent} />
          </>
        }
      />
      <MissingKey />
      <Tabs
        label="Views of the agent"
        value={tab}
        onChange={next => url.set({ tab: next === 'settings' ? undefined : next }, { push: true })}
        tabs={[
          { value: 'settings', label: 'Settings', content: <Settings agent={agent} editing={editing} /> },
          { value: 'versions', label: 'Versions', content: <AgentVersions agent={agent} /> },
          {
            value: 'grants',
            label: 'Allowed calls',
            content: <AgentGrants agentId={agent.id} canRevoke={canWrite} />,
          },
          { value: 'problems', label: 'Recent failures', content: <AgentProblems agentId={agent.id} /> },
        ]}
      />
    </Page>
  );
}

function Settings({ agent, editing }: { agent: Agent; editing: AgentEditing }) {
  const { canWrite } = usePermissions();
  const readOnly = !canWrite || agent.status === 'archived';
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]">
      <div>
        <AgentForm
          agentId={agent.id}
          draft={editing.draft}
          onChange={editing.setDraft}
          problems={editing.problems}
          readOnly={readOnly}
        />
        {readOnly ? null : <SaveBar editing={editing} />}
      </div>
      <TestPanel agent={agent} editing={editing} />
    </div>
  );
}

function SaveBar({ editing }: { editing: AgentEditing }) {
  return (
    <div className="sticky bottom-0 mt-4 flex flex-col gap-2 border-t bg-bg py-3">
      <FormError error={editing.error} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p role="status" className="mr-auto text-xs text-muted">
          {editing.isChanged ? 'Not saved yet' : 'Saved'}
        </p>
        <Button disabled={!editing.isChanged || editing.isSaving} onClick={editing.discard}>
          Discard changes
        </Button>
        <Button
          variant="primary"
          disabled={!editing.isChanged}
          pending={editing.isSaving}
          onClick={() => void editing.save()}
        >
          Save agent
        </Button>
      </div>
    </div>
  );
}
