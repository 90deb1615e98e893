'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import {
  Building2,
  Keyboard,
  type LucideIcon,
  Moon,
  Play,
  Plus,
  Sun,
  SunMoon,
  Waypoints,
  Workflow,
} from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTheme } from 'next-themes';
import { Dialog as Radix, VisuallyHidden } from 'radix-ui';
import { type ReactNode, useCallback, useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { StatusBadge, shownStatus } from '../ui/status-badge.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useDebounced } from '../ui/use-debounced.ts';
import { StartRunDialog } from '../workflows/start-run-dialog.tsx';
import { CreateWorkspaceDialog } from '../workspaces/create-workspace-dialog.tsx';
import { settingsHome } from './pages.ts';
import { usePermissions, useSession } from './session.tsx';
import { usePages } from './use-pages.ts';

type Props = { open: boolean; onOpenChange: (open: boolean) => void; onHelp: () => void };

/** ⌘K: pages, workflows, recent runs, and the actions one does most. */
export function CommandPalette({ open, onOpenChange, onHelp }: Props) {
  const [starting, setStarting] = useState<string | null>(null);
  const [creating, setCreating] = useState(false);
  const endStart = useCallback(() => setStarting(null), []);
  return (
    <>
      <Radix.Root open={open} onOpenChange={onOpenChange}>
        <Radix.Portal>
          <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
          <Radix.Content
            aria-describedby={undefined}
            className="fixed top-[12vh] left-1/2 z-40 w-[calc(100vw-32px)] max-w-140 -translate-x-1/2 overflow-hidden rounded-xl border bg-surface shadow-pop animate-in"
          >
            <VisuallyHidden.Root>
              <Radix.Title>Search and commands</Radix.Title>
            </VisuallyHidden.Root>
            <Commands
              close={() => onOpenChange(false)}
              onHelp={onHelp}
              onStart={setStarting}
              onCreateWorkspace={() => setCreating(true)}
            />
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
      <StartRunDialog workflowId={starting} onClose={endStart} />
      <CreateWorkspaceDialog open={creating} onClose={() => setCreating(false)} />
    </>
  );
}

function Commands({
  close,
  onHelp,
  onStart,
  onCreateWorkspace,
}: {
  close: () => void;
  onHelp: () => void;
  onStart: (workflowId: string) => void;
  onCreateWorkspace: () => void;
}) {
  const router = useRouter();
  const [search, setSearch] = useState('');
  const { canWrite } = usePermissions();
  const { main, settings } = usePages();
  const act = (action: () => void) => () => {
    close();
    action();
  };
  const go = (href: string) => act(() => router.push(href));
  return (
    <Command label="Search and commands" loop>
      <Command.Input
        value={search}
        onValueChange={setSearch}
        placeholder="Search workflows, runs, pages…"
        className="h-11 w-full border-b bg-transparent px-4 text-base outline-none"
      />
      <Command.List className="max-h-[min(56vh,420px)] overflow-y-auto overscroll-contain p-1.5" tabIndex={-1}>
        <Command.Empty className="px-3 py-8 text-center text-sm text-muted">Nothing found.</Command.Empty>
        {canWrite ? (
          <Group heading="Actions">
            <Item icon={Plus} onSelect={go('/workflows?create=1')}>
              Create workflow
            </Item>
          </Group>
        ) : null}
        <Workflows search={search} go={go} onStart={id => act(() => onStart(id))} />
        <RecentRuns act={act} />
        <Group heading="Go to">
          {[...main, settingsHome, ...settings].map(page => (
            <Item key={page.href} icon={page.icon} onSelect={go(page.href)}>
              {page.label}
            </Item>
          ))}
        </Group>
        <Workspaces act={act} onCreate={onCreateWorkspace} />
        <Preferences act={act} onHelp={onHelp} />
      </Command.List>
    </Command>
  );
}

function Workflows({
  search,
  go,
  onStart,
}: {
  search: string;
  go: (href: string) => () => void;
  onStart: (workflowId: string) => () => void;
}) {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const q = useDebounced(search.trim(), 150);
  const { data } = useQuery(
    trpc.workflows_list.queryOptions(
      { limit: 6, graphs: false, ...(q ? { q } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
  const workflows = data?.workflows ?? [];
  if (workflows.length === 0) return null;
  return (
    <>
      <Group heading="Workflows">
        {workflows.map(workflow => (
          <Item
            key={workflow.id}
            value={`workflow ${workflow.name} ${workflow.id}`}
            icon={Workflow}
            onSelect={go(`/workflows/${workflow.id}`)}
          >
            <span className="flex-1 truncate">{workflow.name}</span>
            <StatusBadge kind="workflow" status={workflow.status} />
          </Item>
        ))}
      </Group>
      {canWrite && workflows.some(workflow => workflow.latest_version !== null) ? (
        <Group heading="Start a run">
          {workflows
            .filter(workflow => workflow.latest_version !== null)
            .map(workflow => (
              <Item
                key={workflow.id}
                value={`run start ${workflow.name} ${workflow.id}`}
                icon={Play}
                onSelect={onStart(workflow.id)}
              >
                <span className="truncate">Run {workflow.name}</span>
              </Item>
            ))}
        </Group>
      ) : null}
    </>
  );
}

function RecentRuns({ act }: { act: (action: () => void) => () => void }) {
  const trpc = useTRPC();
  const { scope, switchTo } = useSession();
  const { data } = useQuery(trpc.runs_list_tenant.queryOptions({ limit: 6 }));
  if (!data || data.runs.length === 0) return null;
  return (
    <Group heading="Recent runs">
      {data.runs.map(run => (
        <Item
          key={run.run_id}
          value={`run ${run.workflow_name} ${run.run_id}`}
          icon={Waypoints}
          onSelect={act(() =>
            switchTo(
              { tenant: scope.tenant, project: run.project_id },
              `/workflows/${run.workflow_id}/runs/${run.run_id}`,
            ),
          )}
        >
          <span className="flex-1 truncate">{run.workflow_name}</span>
          <RelativeTime at={run.started_at} />
          <StatusBadge kind="run" status={shownStatus(run)} />
        </Item>
      ))}
    </Group>
  );
}

/** The other workspaces, each with its first project, and a new one. */
function Workspaces({ act, onCreate }: { act: (action: () => void) => () => void; onCreate: () => void }) {
  const { me, switchTo } = useSession();
  const others = me.tenants.filter(({ id, projects }) => id !== me.tenant.id && projects.length > 0);
  if (others.length === 0 && !me.can_create_workspaces) return null;
  return (
    <Group heading="Workspaces">
      {others.map(({ id, name, projects }) => (
        <Item
          key={id}
          value={`switch workspace ${name} ${id}`}
          icon={Building2}
          onSelect={act(() => switchTo({ tenant: id, project: projects[0]?.id ?? '' }))}
        >
          <span className="truncate">Switch to {name}</span>
        </Item>
      ))}
      {me.can_create_workspaces ? (
        <Item icon={Plus} onSelect={act(onCreate)}>
          Create workspace
        </Item>
      ) : null}
    </Group>
  );
}

function Preferences({ act, onHelp }: { act: (action: () => void) => () => void; onHelp: () => void }) {
  const { setTheme } = useTheme();
  return (
    <Group heading="Preferences">
      <Item icon={Sun} onSelect={act(() => setTheme('light'))}>
        Light theme
      </Item>
      <Item icon={Moon} onSelect={act(() => setTheme('dark'))}>
        Dark theme
      </Item>
      <Item icon={SunMoon} onSelect={act(() => setTheme('system'))}>
        Follow the system's theme
      </Item>
      <Item icon={Keyboard} onSelect={act(onHelp)}>
        Keyboard shortcuts
      </Item>
    </Group>
  );
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint"
    >
      {children}
    </Command.Group>
  );
}

function Item({
  icon: Icon,
  value,
  onSelect,
  children,
}: {
  icon: LucideIcon;
  value?: string;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex cursor-default items-center gap-2.5 rounded-md px-2 py-1.5 text-sm select-none data-[selected=true]:bg-hover"
    >
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      {children}
    </Command.Item>
  );
}
