import {
  Bell,
  Blocks,
  Bot,
  Brain,
  BrainCircuit,
  ChartNoAxesCombined,
  CircleUser,
  CreditCard,
  FolderKanban,
  History,
  Inbox,
  KeyRound,
  type LucideIcon,
  MessagesSquare,
  Plug,
  ScrollText,
  Users,
  Waypoints,
  Webhook,
  Workflow,
} from 'lucide-react';
import type { BillingMode } from '@/server/contract/billing-settings.ts';

export type ConsolePage = {
  href: string;
  label: string;
  icon: LucideIcon /** Pressed after `g`. */;
  key?: string;
  /** The people to whom the page is shown; others could use nothing on it. Default: everybody. */
  for?: 'contributors' | 'admins';
};

/** The pages that the sidebar and ⌘K lead to: only complete ones. */
const mainPages: readonly ConsolePage[] = [
  { href: '/workflows', label: 'Workflows', icon: Workflow, key: 'w' },
  { href: '/agents', label: 'Agents', icon: Bot, key: 'e' },
  { href: '/chat', label: 'Chat', icon: MessagesSquare, key: 't' },
  { href: '/runs', label: 'Runs', icon: Waypoints, key: 'r' },
  { href: '/inbox', label: 'Inbox', icon: Inbox, key: 'i' },
  { href: '/memory', label: 'Memory', icon: Brain, key: 'o' },
  { href: '/webhooks', label: 'Webhooks', icon: Webhook, key: 'h', for: 'contributors' },
  { href: '/connections', label: 'Connections', icon: Plug, key: 'c', for: 'contributors' },
  { href: '/mcp-servers', label: 'MCP servers', icon: Blocks, key: 's', for: 'contributors' },
  { href: '/analytics', label: 'Analytics', icon: ChartNoAxesCombined, key: 'a', for: 'contributors' },
  { href: '/billing', label: 'Billing', icon: CreditCard, key: 'b' },
];
const settingsPages: readonly ConsolePage[] = [
  { href: '/settings/members', label: 'Members', icon: Users, key: 'm' },
  { href: '/settings/api-keys', label: 'API keys', icon: KeyRound, key: 'k', for: 'contributors' },
  { href: '/settings/model-keys', label: 'Model keys', icon: BrainCircuit },
  { href: '/settings/chat', label: 'Chat settings', icon: MessagesSquare, for: 'admins' },
  { href: '/settings/projects', label: 'Projects', icon: FolderKanban, key: 'p' },
  { href: '/settings/audit-log', label: 'Audit log', icon: History, for: 'admins' },
  { href: '/settings/notifications', label: 'Notifications', icon: Bell, key: 'n' },
  { href: '/settings/profile', label: 'Profile', icon: CircleUser },
  { href: '/settings/api-reference', label: 'API reference', icon: ScrollText },
];

type Member = { canWrite: boolean; isAdmin: boolean; billing: BillingMode; agents: boolean; memory: boolean };

/** The pages that a member may use; the deployment decides whether there are agents, chats and memory, and what there is of billing. */
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
