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

export type ConsolePage = {
  href: string;
  label: string;
  icon: LucideIcon /** Pressed after `g`. */;
  key?: string;
  /** Only administrators of the workspace see it. */
  adminOnly?: true;
};

/** The pages that the sidebar and ⌘K lead to: only complete ones. */
export const mainPages: readonly ConsolePage[] = [
  { href: '/workflows', label: 'Workflows', icon: Workflow, key: 'w' },
  { href: '/runs', label: 'Runs', icon: Waypoints, key: 'r' },
  { href: '/inbox', label: 'Inbox', icon: Inbox, key: 'i' },
  { href: '/webhooks', label: 'Webhooks', icon: Webhook, key: 'h' },
  { href: '/connections', label: 'Connections', icon: Plug, key: 'c' },
  { href: '/mcp-servers', label: 'MCP servers', icon: Blocks, key: 's' },
  { href: '/analytics', label: 'Analytics', icon: ChartNoAxesCombined, key: 'a' },
  { href: '/billing', label: 'Billing', icon: CreditCard, key: 'b' },
];
export const settingsPages: readonly ConsolePage[] = [
  { href: '/settings/members', label: 'Members', icon: Users, key: 'm' },
  { href: '/settings/api-keys', label: 'API keys', icon: KeyRound, key: 'k' },
  { href: '/settings/model-keys', label: 'Model keys', icon: BrainCircuit },
  { href: '/settings/projects', label: 'Projects', icon: FolderKanban, key: 'p' },
  { href: '/settings/audit-log', label: 'Audit log', icon: History, adminOnly: true },
  { href: '/settings/notifications', label: 'Notifications', icon: Bell, key: 'n' },
  { href: '/settings/profile', label: 'Profile', icon: CircleUser },
  { href: '/settings/api-reference', label: 'API reference', icon: ScrollText },
];

/** The pages that a member may use. */
export const pagesFor = ({ isAdmin }: { isAdmin: boolean }): readonly ConsolePage[] =>
  [...mainPages, ...settingsPages].filter(page => isAdmin || !page.adminOnly);
