'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Bot, Plus, SearchX } from 'lucide-react';
import dynamic from 'next/dynamic';
import { MissingKey } from '../models/missing-key.tsx';
import { useCreditsShown, usePermissions, useSession } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Credits } from '../ui/credits.tsx';
import { Link } from '../ui/link.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { EmptyState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { loadingBeforeClick, useOpened } from '../ui/use-opened.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { Sparkline } from '../workflows/sparkline.tsx';
import { figuresOf } from './agent-figures.ts';
import { AgentStatus } from './agent-status.tsx';
import { AgentsOff } from './agents-off.tsx';

const loadCreate = () => import('./create-agent.tsx');
const CreateAgentDialog = dynamic(() => loadCreate().then(module => module.CreateAgentDialog), { ssr: false });

type AgentRow = Outputs['agents_list']['agents'][number];
const statuses = ['active', 'disabled', 'archived'] as const;
type Status = (typeof statuses)[number];
const statusOptions = [
  { value: '', label: 'All except archived' },
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
  { value: 'archived', label: 'Archived' },
] as const;

/** Lists the agents of the project with figures of their last runs. */
export function AgentList() {
  return useSession().me.agents ? <Agents /> : <AgentsOff title="Agents" />;
}

function Agents() {
  const { get, set } = useUrlState();
  const { canWrite } = usePermissions();
  const q = get('q');
  const status = statuses.find(each => each === get('status')) ?? '';
  const creates = canWrite && get('create') === '1';
  const hasCreate = useOpened(creates);
  return (
    <Page>
      <PageHeader
        title="Agents"
        description="Models with instructions, tools and limits."
        actions={canWrite ? <CreateButton /> : null}
      />
      <MissingKey />
      <div className="mb-3 flex flex-wrap gap-2">
        <SearchInput label="Search agents" value={q} onChange={value => set({ q: value, cursor: '' })} />
        <Select<Status | ''>
          label="Status"
          className="w-40"
          value={status}
          options={statusOptions}
          onChange={value => set({ status: value, cursor: '' }, { push: true })}
        />
      </div>
      <Rows q={q} status={status} cursor={get('cursor')} />
      {hasCreate ? <CreateAgentDialog open={creates} onClose={() => set({ create: '' })} /> : null}
    </Page>
  );
}

function CreateButton() {
  const { set } = useUrlState();
  return (
    <Button
      variant="primary"
      icon={<Plus aria-hidden className="size-3.5" />}
      {...loadingBeforeClick(loadCreate)}
      onClick={() => set({ create: '1' })}
    >
      Create agent
    </Button>
  );
}

function Rows({ q, status, cursor }: { q: string; status: Status | ''; cursor: string }) {
  const trpc = useTRPC();
  const showsCredits = useCreditsShown();
  const input = { limit: 50, ...(q ? { q } : {}), ...(status ? { status } : {}), ...(cursor ? { cursor } : {}) };
  const list = useQuery(
    trpc.agents_list.queryOptions(input, { refetchInterval: 5_000, placeholderData: keepPreviousData }),
  );
  return (
    <ListCard
      label="Agents"
      columns={[
        'Name',
        'Status',
        'Model',
        'Recent runs',
        'Success',
        ...(showsCredits ? ['Credits per run'] : []),
        'Last run',
      ]}
      query={list}
      items={list.data?.agents}
      next={list.data?.next_cursor}
      row={agent => <Row key={agent.id} agent={agent} showsCredits={showsCredits} />}
      skeletonRows={3}
      empty={<Nothing filtered={Boolean(q || status || cursor)} />}
    />
  );
}

const Nothing = ({ filtered }: { filtered: boolean }) => (filtered ? <NoMatch /> : <NoneYet />);

function NoMatch() {
  const { set } = useUrlState();
  return (
    <EmptyState
      icon={SearchX}
      title="No agent matches"
      action={<Button onClick={() => set({ q: '', status: '', cursor: '' })}>Clear filters</Button>}
    />
  );
}

function NoneYet() {
  const { canWrite } = usePermissions();
  return (
    <EmptyState icon={Bot} title="No agents yet" action={canWrite ? <CreateButton /> : null}>
      An agent answers a message. It calls tools within its limits, and asks a person before it changes anything.
    </EmptyState>
  );
}

function Row({ agent, showsCredits }: { agent: AgentRow; showsCredits: boolean }) {
  const last = agent.recent_runs[0];
  const { successRate, creditsPerRun } = figuresOf(agent.recent_runs);
  return (
    <Tr>
      <Td className="max-w-80 min-w-44">
        <Link href={`/agents/${agent.id}`} className="block truncate font-medium hover:underline">
          {agent.name}
        </Link>
        {agent.description ? <span className="block truncate text-xs text-muted">{agent.description}</span> : null}
      </Td>
      <Td>
        <AgentStatus status={agent.status} />
      </Td>
      <Td className="max-w-56">
        <span className="block truncate font-mono text-xs">{agent.model}</span>
      </Td>
      <Td>
        <Sparkline runs={agent.recent_runs} />
      </Td>
      <Td className="tabular-nums">{successRate === null ? '—' : `${Math.round(successRate * 100)}%`}</Td>
      {showsCredits ? (
        <Td className="tabular-nums">{creditsPerRun === null ? '—' : <Credits value={creditsPerRun} />}</Td>
      ) : null}
      <Td>
        {last ? (
          <Link
            href={`/workflows/${agent.id}/runs/${last.run_id}`}
            className="inline-flex items-center gap-2 hover:underline"
          >
            <StatusBadge kind="run" status={last.status} />
            <RelativeTime at={last.started_at} />
          </Link>
        ) : (
          <span className="text-faint">Never</span>
        )}
      </Td>
    </Tr>
  );
}
