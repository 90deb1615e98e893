import {
  Bell,
  Blocks,
  BrainCircuit,
  ChartNoAxesCombined,
  CircleUser,
  CreditCard,
  FolderKanban,
  History,
  Inbox,
  KeyRound,
  type LucideIcon,
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
  /** Only administrators of the workspace see it. */
  adminOnly?: true;
};

/** The pages that the sidebar and ⌘K lead to: only complete ones. */
const mainPages: readonly ConsolePage[] = [
  { href: '/workflows', label: 'Workflows', icon: Workflow, key: 'w' },
  { href: '/runs', label: 'Runs', icon: Waypoints, key: 'r' },
  { href: '/inbox', label: 'Inbox', icon: Inbox, key: 'i' },
  { href: '/webhooks', label: 'Webhooks', icon: Webhook, key: 'h' },
  { href: '/connections', label: 'Connections', icon: Plug, key: 'c' },
  { href: '/mcp-servers', label: 'MCP servers', icon: Blocks, key: 's' },
  { href: '/analytics', label: 'Analytics', icon: ChartNoAxesCombined, key: 'a' },
  { href: '/billing', label: 'Billing', icon: CreditCard, key: 'b' },
];
const settingsPages: readonly ConsolePage[] = [
  { href: '/settings/members', label: 'Members', icon: Users, key: 'm' },
  { href: '/settings/api-keys', label: 'API keys', icon: KeyRound, key: 'k' },
  { href: '/settings/model-keys', label: 'Model keys', icon: BrainCircuit },
  { href: '/settings/projects', label: 'Projects', icon: FolderKanban, key: 'p' },
  { href: '/settings/audit-log', label: 'Audit log', icon: History, adminOnly: true },
  { href: '/settings/notifications', label: 'Notifications', icon: Bell, key: 'n' },
  { href: '/settings/profile', label: 'Profile', icon: CircleUser },
  { href: '/settings/api-reference', label: 'API reference', icon: ScrollText },
];

/** The pages that a member may use; what there is of billing follows from the deployment's mode. */
export function pagesFor({ isAdmin, billing }: { isAdmin: boolean; billing: BillingMode }): {
  main: readonly ConsolePage[];
  settings: readonly ConsolePage[];
} {
  const main = mainPages.flatMap(page => {
    if (page.href !== '/billing' || billing === 'on') return page;
    return billing === 'off' ? [] : { ...page, label: 'Usage' };
  });
  return { main, settings: settingsPages.filter(page => isAdmin || !page.adminOnly) };
}
