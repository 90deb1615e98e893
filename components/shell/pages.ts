import {
  Blocks,
  Bot,
  Brain,
  ChartNoAxesCombined,
  CreditCard,
  Inbox,
  MessagesSquare,
  Plug,
  Settings,
  Waypoints,
  Webhook,
  Workflow,
} from 'lucide-react';
import dynamic from 'next/dynamic';
import type { ComponentType } from 'react';
import type { BillingMode } from '@/server/operation/billing-settings.ts';

export type PageIcon = ComponentType<{ className?: string; 'aria-hidden'?: boolean }>;

/** Loads an icon when it is shown: on the pages of the settings, and in the palette. */
const settingsIcon = (name: keyof typeof import('./settings-icons.ts')): PageIcon =>
  dynamic(() => import('./settings-icons.ts').then(icons => icons[name]));

export type ConsolePage = {
  href: string;
  label: string;
  icon: PageIcon;
  /** The heading under which the page is listed. */
  group: string;
  /** The key that opens the page after `g`. */
  key?: string;
  /** The members who see the page; others could use nothing on it. Default: everyone. */
  for?: 'contributors' | 'admins';
};

/** The pages that the sidebar and ⌘K link to. Only complete pages are listed. */
const mainPages: readonly ConsolePage[] = [
  { group: 'Build', href: '/workflows', label: 'Workflows', icon: Workflow, key: 'w' },
  { group: 'Build', href: '/agents', label: 'Agents', icon: Bot, key: 'e' },
  { group: 'Build', href: '/connections', label: 'Connections', icon: Plug, key: 'c', for: 'contributors' },
  { group: 'Build', href: '/mcp-servers', label: 'MCP servers', icon: Blocks, key: 's', for: 'contributors' },
  { group: 'Build', href: '/webhooks', label: 'Webhooks', icon: Webhook, key: 'h', for: 'contributors' },
  { group: 'Operate', href: '/runs', label: 'Runs', icon: Waypoints, key: 'r' },
  { group: 'Operate', href: '/inbox', label: 'Inbox', icon: Inbox, key: 'i' },
  {
    group: 'Operate',
    href: '/analytics',
    label: 'Analytics',
    icon: ChartNoAxesCombined,
    key: 'a',
    for: 'contributors',
  },
  { group: 'Operate', href: '/billing', label: 'Billing', icon: CreditCard, key: 'b' },
  { group: 'Talk', href: '/chat', label: 'Chat', icon: MessagesSquare, key: 't' },
  { group: 'Talk', href: '/memory', label: 'Memory', icon: Brain, key: 'o' },
];
/** The page of all settings. */
export const settingsHome = { href: '/settings', label: 'Settings', icon: Settings, key: ',' } as const;

const settingsPages: readonly ConsolePage[] = [
  {
    group: 'Workspace',
    href: '/settings/members',
    label: 'Members',
    icon: settingsIcon('Users'),
    key: 'm',
  },
  {
    group: 'Workspace',
    href: '/settings/projects',
    label: 'Projects',
    icon: settingsIcon('FolderKanban'),
    key: 'p',
  },
  {
    group: 'Workspace',
    href: '/settings/model-keys',
    label: 'Model keys',
    icon: settingsIcon('BrainCircuit'),
  },
  {
    group: 'Workspace',
    href: '/settings/chat',
    label: 'Chat settings',
    icon: MessagesSquare,
    for: 'admins',
  },
  {
    group: 'Workspace',
    href: '/settings/audit-log',
    label: 'Audit log',
    icon: settingsIcon('History'),
    for: 'admins',
  },
  {
    group: 'You',
    href: '/settings/profile',
    label: 'Profile',
    icon: settingsIcon('CircleUser'),
  },
  {
    group: 'You',
    href: '/settings/notifications',
    label: 'Notifications',
    icon: settingsIcon('Bell'),
    key: 'n',
  },
  {
    group: 'Developers',
    href: '/settings/api-keys',
    label: 'API keys',
    icon: settingsIcon('KeyRound'),
    key: 'k',
    for: 'contributors',
  },
  {
    group: 'Developers',
    href: '/settings/api-reference',
    label: 'API reference',
    icon: settingsIcon('ScrollText'),
  },
];

type Member = { canWrite: boolean; isAdmin: boolean; billing: BillingMode; agents: boolean; memory: boolean };

/**
 * Returns the pages that a member may use. The deployment decides whether there are agents, chats and memory, and which parts of billing.
 */
export function pagesFor({ canWrite, isAdmin, billing, agents, memory }: Member): {
  main: readonly ConsolePage[];
  settings: readonly ConsolePage[];
} {
  const isOpen = (page: ConsolePage) =>
    page.for === 'admins' ? isAdmin : page.for === 'contributors' ? canWrite : true;
  const main = mainPages.filter(isOpen).flatMap(page => {
    if ((page.href === '/agents' || page.href === '/chat') && !agents) return [];
    if (page.href === '/memory' && !memory) return [];
    if (page.href !== '/billing' || (billing === 'on' && canWrite)) return page;
    return billing === 'off' ? [] : { ...page, label: 'Usage' };
  });
  const settings = settingsPages.filter(page => isOpen(page) && (page.href !== '/settings/chat' || agents));
  return { main, settings };
}

/** Groups the pages by heading, in the order of the list. */
export function groupsOf<P extends ConsolePage>(pages: readonly P[]): { label: string; pages: P[] }[] {
  return [...Map.groupBy(pages, ({ group }) => group)].map(([label, members]) => ({ label, pages: members }));
}

/** Returns true if the path is a page or is below it. */
export const isCurrent = (page: Pick<ConsolePage, 'href'>, pathname: string): boolean =>
  pathname === page.href || pathname.startsWith(`${page.href}/`);
