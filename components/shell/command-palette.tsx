'use client';
import { Command } from 'cmdk';
import {
  Building2,
  Keyboard,
  LogOut,
  type LucideIcon,
  Moon,
  MousePointerClick,
  PanelLeft,
  Plus,
  Sun,
  SunMoon,
} from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTheme } from 'next-themes';
import { Dialog as Radix, VisuallyHidden } from 'radix-ui';
import { useCallback, useRef, useState } from 'react';
import { usePermissions, useSession } from '../session/session.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { readPageButtons, useMenuActions } from '../ui/page-actions.tsx';
import { useFocusReturn } from '../ui/use-focus-return.ts';
import { StartRunDialog } from '../workflows/start-run-dialog.tsx';
import { CreateWorkspaceDialog } from '../workspaces/create-workspace-dialog.tsx';
import { settingsHome } from './pages.ts';
import { type Entry, findEntries } from './palette-entries.ts';
import { useObjectEntries, useRunEntries, useWorkflowEntries } from './palette-objects.tsx';
import { SETTINGS_DESCRIPTIONS } from './settings-descriptions.ts';
import { usePages } from './use-pages.ts';
import { useSidebar } from './use-sidebar.tsx';
import { useSignOut } from './use-sign-out.tsx';

type Props = { open: boolean; onOpenChange: (open: boolean) => void; onHelp: () => void };

/**
 * The palette (⌘K): the actions of the page, objects, pages and common actions. The search is fuzzy, and ignores the
 * order of words.
 */
export function CommandPalette({ open, onOpenChange, onHelp }: Props) {
  const [starting, setStarting] = useState<string | null>(null);
  const [creating, setCreating] = useState(false);
  const onCloseAutoFocus = useFocusReturn(open);
  const endStart = useCallback(() => setStarting(null), []);
  const { leave, dialog } = useSignOut();
  const pending = useRef<(() => void) | null>(null);
  return (
    <>
      <Radix.Root open={open} onOpenChange={onOpenChange}>
        <Radix.Portal>
          <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
          <Radix.Content
            aria-describedby={undefined}
            onCloseAutoFocus={event => {
              const action = pending.current;
              if (action === null) return onCloseAutoFocus(event);
              event.preventDefault();
              pending.current = null;
              action();
            }}
            className="fixed top-[12vh] left-1/2 z-40 w-[calc(100vw-32px)] max-w-140 -translate-x-1/2 overflow-hidden rounded-xl border bg-surface shadow-pop animate-in"
          >
            <VisuallyHidden.Root>
              <Radix.Title>Search and commands</Radix.Title>
            </VisuallyHidden.Root>
            <Commands
              close={() => onOpenChange(false)}
              onPage={action => {
                pending.current = action;
                onOpenChange(false);
              }}
              onHelp={onHelp}
              onSignOut={leave}
              onStart={setStarting}
              onCreateWorkspace={() => setCreating(true)}
            />
          </Radix.Content>
        </Radix.Portal>
      </Radix.Root>
      <StartRunDialog workflowId={starting} onClose={endStart} />
      <CreateWorkspaceDialog open={creating} onClose={() => setCreating(false)} />
      {dialog}
    </>
  );
}

type CommandsProps = {
  close: () => void;
  /** Closes the palette, and runs the action once the focus is back on the page. */
  onPage: (action: () => void) => void;
  onHelp: () => void;
  onSignOut: () => void;
  onStart: (workflowId: string) => void;
  onCreateWorkspace: () => void;
};

function Commands({ close, onPage, onHelp, onSignOut, onStart, onCreateWorkspace }: CommandsProps) {
  const router = useRouter();
  const [search, setSearch] = useState('');
  const closeThen = (action: () => void) => () => {
    close();
    action();
  };
  const ways = { closeThen, go: (href: string) => closeThen(() => router.push(href)) };
  const entries = [
    ...usePageEntries(onPage),
    ...useActionEntries(ways),
    ...useWorkflowEntries(search, ways, onStart),
    ...useRunEntries(ways),
    ...useNavigationEntries(ways),
    ...useObjectEntries(search.trim() !== '', ways),
    ...useWorkspaceEntries(ways, onCreateWorkspace),
    ...usePreferenceEntries(ways, onHelp, onSignOut),
  ];
  return (
    <Command label="Search and commands" shouldFilter={false} loop>
      <Command.Input
        value={search}
        onValueChange={setSearch}
        placeholder="Search workflows, runs, pages…"
        className="h-11 w-full border-b bg-transparent px-4 text-base outline-none"
      />
      <Command.List className="max-h-[min(56vh,420px)] overflow-y-auto overscroll-contain p-1.5" tabIndex={-1}>
        <Command.Empty className="px-3 py-8 text-center text-sm text-muted">Nothing found.</Command.Empty>
        {findEntries(entries, search).map(({ group, entries: found }) => (
          <Command.Group
            key={group}
            heading={group}
            className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint"
          >
            {found.map(entry => (
              <EntryItem key={entry.id} entry={entry} />
            ))}
          </Command.Group>
        ))}
      </Command.List>
    </Command>
  );
}

function EntryItem({ entry: { id, icon: Icon, label, aside, run } }: { entry: Entry }) {
  return (
    <Command.Item
      value={id}
      onSelect={run}
      className="flex cursor-default items-center gap-2.5 rounded-md px-2 py-1.5 text-sm select-none data-[selected=true]:bg-hover"
    >
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {aside}
    </Command.Item>
  );
}

type Ways = { go: (href: string) => () => void; closeThen: (action: () => void) => () => void };

/** Returns the actions of the current page: its buttons and tabs, and the entries of its menus. */
function usePageEntries(onPage: (action: () => void) => void): Entry[] {
  const [buttons] = useState(() => readPageButtons());
  return [...buttons, ...useMenuActions()].map(({ label, hint, run }, at) => ({
    id: `page ${at} ${label}`,
    group: 'On this page',
    label,
    ...(hint ? { keywords: hint, aside: <span className="truncate text-xs text-muted">{hint}</span> } : {}),
    icon: MousePointerClick,
    run: () => onPage(run),
  }));
}

function useActionEntries({ go }: Ways): Entry[] {
  const { canWrite } = usePermissions();
  const { agents } = useSession().me;
  const entry = (label: string, href: string, keywords: string): Entry => ({
    id: `action ${href}`,
    group: 'Actions',
    label,
    keywords,
    icon: Plus,
    run: go(href),
  });
  if (!canWrite) return [];
  return [
    entry('Create workflow', '/workflows?create=1', 'new add template'),
    entry('Import workflow', '/workflows?import=1', 'file yaml json'),
    ...(agents
      ? [entry('Create agent', '/agents?create=1', 'new add'), entry('New chat', '/chat/new', 'thread create')]
      : []),
    entry('Create webhook', '/webhooks?create=1', 'new add trigger'),
    entry('Add connection', '/connections?create=credentials', 'new create credentials'),
  ];
}

function useNavigationEntries({ go }: Ways): Entry[] {
  const { main, settings } = usePages();
  return [...main, settingsHome, ...settings].map(page => ({
    id: `page ${page.href}`,
    group: 'Go to',
    label: page.label,
    keywords: page.href in SETTINGS_DESCRIPTIONS ? `settings ${SETTINGS_DESCRIPTIONS[page.href]}` : 'open page',
    icon: page.icon,
    ...(page.key ? { aside: <Kbd>{`g ${page.key}`}</Kbd> } : {}),
    run: go(page.href),
  }));
}

/** Returns the other workspaces, each with its first project, and an entry that creates one. */
function useWorkspaceEntries({ closeThen }: Ways, onCreate: () => void): Entry[] {
  const { me, switchTo } = useSession();
  const others = me.tenants.filter(({ id, projects }) => id !== me.tenant.id && projects.length > 0);
  const group = 'Workspaces';
  return [
    ...others.map(({ id, name, projects }) => ({
      id: `workspace ${id}`,
      group,
      label: `Switch to ${name}`,
      keywords: id,
      icon: Building2,
      run: closeThen(() => switchTo({ tenant: id, project: projects[0]?.id ?? '' })),
    })),
    ...(me.can_create_workspaces
      ? [
          {
            id: 'create workspace',
            group,
            label: 'Create workspace',
            keywords: 'new',
            icon: Plus,
            run: closeThen(onCreate),
          },
        ]
      : []),
  ];
}

function usePreferenceEntries({ closeThen }: Ways, onHelp: () => void, onSignOut: () => void): Entry[] {
  const { setTheme } = useTheme();
  const { toggle } = useSidebar();
  const entry = (label: string, icon: LucideIcon, keywords: string, action: () => void): Entry => ({
    id: `preference ${label}`,
    group: 'Preferences',
    label,
    keywords,
    icon,
    run: closeThen(action),
  });
  return [
    entry('Light theme', Sun, 'mode color appearance', () => setTheme('light')),
    entry('Dark theme', Moon, 'mode color appearance night', () => setTheme('dark')),
    entry("Follow the system's theme", SunMoon, 'mode color appearance', () => setTheme('system')),
    entry('Collapse or open the sidebar', PanelLeft, 'navigation hide show', toggle),
    entry('Keyboard shortcuts', Keyboard, 'keys help', onHelp),
    entry('Sign out', LogOut, 'log out', onSignOut),
  ];
}
