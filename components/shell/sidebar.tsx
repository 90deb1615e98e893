'use client';
import { ArrowLeft, PanelLeftClose, PanelLeftOpen, Search, TriangleAlert } from 'lucide-react';
import { usePathname } from 'next/navigation';
import type { ReactNode } from 'react';
import { cx } from '../ui/classes.ts';
import { Kbd } from '../ui/kbd.tsx';
import { Link } from '../ui/link.tsx';
import { Tooltip } from '../ui/tooltip.tsx';
import { type ConsolePage, groupsOf, isCurrent, type PageIcon, settingsHome } from './pages.ts';
import { ScopeSwitch } from './scope-switch.tsx';
import { useInboxCount } from './use-inbox-count.ts';
import { usePages } from './use-pages.ts';
import { UserMenu } from './user-menu.tsx';

type SidebarProps = {
  /** Shows only icons, with their labels in tooltips. */
  collapsed?: boolean;
  /** Collapses or expands the sidebar. Without it, the sidebar cannot be changed. */
  onToggle?: () => void;
  onSearch: () => void;
  onHelp: () => void;
};

const rowClass = 'flex h-8 w-full items-center gap-2 rounded-md px-2 text-sm focus-visible:-outline-offset-2';
const quiet = 'text-muted hover:bg-hover hover:text-text';

/**
 * The scope, the search, the pages, the settings and the user, from top to bottom. On a settings page, it lists the
 * settings pages.
 */
export function Sidebar({ collapsed = false, onToggle, onSearch, onHelp }: SidebarProps) {
  const inSettings = isCurrent(settingsHome, usePathname());
  // Also on settings pages: the same poll reads the browser notifications, and detects the end of the session.
  const waiting = useInboxCount();
  return (
    <div className="flex h-full flex-col gap-3 overflow-hidden p-3">
      <ScopeSwitch collapsed={collapsed} />
      <Hint text="Search or go to" keys="⌘ K" collapsed={collapsed}>
        <button
          type="button"
          onClick={onSearch}
          aria-label={collapsed ? 'Search or go to' : undefined}
          className="flex h-8 shrink-0 items-center gap-2 rounded-md border bg-surface px-1.75 text-sm text-muted shadow-sm hover:border-line-strong hover:text-text focus-visible:-outline-offset-2"
        >
          <Search aria-hidden className="size-4 shrink-0" />
          {collapsed ? null : (
            <>
              <span className="flex-1 truncate text-left">Search or go to</span>
              <Kbd>⌘ K</Kbd>
            </>
          )}
        </button>
      </Hint>
      {inSettings ? <SettingsNav collapsed={collapsed} /> : <MainNav collapsed={collapsed} waiting={waiting} />}
      <div className="flex flex-col gap-1">
        {onToggle ? <Toggle collapsed={collapsed} onToggle={onToggle} /> : null}
        <UserMenu onHelp={onHelp} collapsed={collapsed} />
      </div>
    </div>
  );
}

const navClass = 'flex min-h-0 flex-1 flex-col gap-3 overflow-x-hidden overflow-y-auto';

function MainNav({ collapsed, waiting }: { collapsed: boolean; waiting: string | null | undefined }) {
  const { main } = usePages();
  return (
    <nav aria-label="Main" className={navClass}>
      {groupsOf(main).map(({ label, pages }) => (
        <PageGroup key={label} label={label} collapsed={collapsed}>
          {pages.map(page => (
            <PageLink
              key={page.href}
              page={page}
              collapsed={collapsed}
              badge={page.href === '/inbox' ? waiting : undefined}
            />
          ))}
        </PageGroup>
      ))}
      <ul className="mt-auto">
        <PageLink page={settingsHome} collapsed={collapsed} />
      </ul>
    </nav>
  );
}

function SettingsNav({ collapsed }: { collapsed: boolean }) {
  const { settings } = usePages();
  return (
    <nav aria-label="Settings" className={navClass}>
      <ul>
        <PageLink page={{ href: '/workflows', label: 'Back to workflows', icon: ArrowLeft }} collapsed={collapsed} />
      </ul>
      {groupsOf(settings).map(({ label, pages }) => (
        <PageGroup key={label} label={label} collapsed={collapsed}>
          {pages.map(page => (
            <PageLink key={page.href} page={page} collapsed={collapsed} />
          ))}
        </PageGroup>
      ))}
    </nav>
  );
}

/** The pages under a heading. A collapsed sidebar shows a line in place of the heading. */
function PageGroup({ label, collapsed, children }: { label: string; collapsed: boolean; children: ReactNode }) {
  return (
    <div>
      <p className={cx('mb-1 flex h-4 items-center px-2 text-xs text-faint', collapsed && 'px-1')}>
        {collapsed ? <span aria-hidden className="h-px w-full bg-line" /> : label}
        {collapsed ? <span className="sr-only">{label}</span> : null}
      </p>
      <ul className="flex flex-col gap-0.5">{children}</ul>
    </div>
  );
}

type Badge = string | null | undefined;
type Target = { href: string; label: string; icon: PageIcon; key?: string };

function PageLink({ page, badge, collapsed }: { page: Target | ConsolePage; badge?: Badge; collapsed: boolean }) {
  const current = isCurrent(page, usePathname());
  const Icon = page.icon;
  return (
    <li>
      <Hint text={page.label} keys={page.key ? `g ${page.key}` : undefined} collapsed={collapsed}>
        <Link
          href={page.href}
          aria-current={current ? 'page' : undefined}
          className={cx(rowClass, 'relative', current ? 'bg-active font-medium text-text' : quiet)}
        >
          <Icon aria-hidden className="size-4 shrink-0" />
          <span className={collapsed ? 'sr-only' : 'flex-1 truncate'}>{page.label}</span>
          <Count badge={badge} collapsed={collapsed} />
        </Link>
      </Hint>
    </li>
  );
}

/** The number of waiting items of a page; a dot on the icon if the sidebar is collapsed. */
function Count({ badge, collapsed }: { badge: Badge; collapsed: boolean }) {
  const corner = 'absolute top-0.5 right-0.5';
  if (badge === null) {
    return (
      <TriangleAlert
        role="img"
        aria-label="Could not count the waiting tasks"
        className={cx('text-warn', collapsed ? `${corner} size-3` : 'size-3.5')}
      />
    );
  }
  if (!badge) return null;
  return (
    <span
      className={
        collapsed
          ? `${corner} size-2 rounded-full bg-accent`
          : 'rounded-full bg-accent px-1.5 text-xs leading-5 font-medium text-on-accent tabular-nums'
      }
    >
      <span className={collapsed ? 'sr-only' : undefined}>{badge}</span>
      <span className="sr-only"> waiting</span>
    </span>
  );
}

function Toggle({ collapsed, onToggle }: { collapsed: boolean; onToggle: () => void }) {
  const Icon = collapsed ? PanelLeftOpen : PanelLeftClose;
  return (
    <Hint text="Open the sidebar" keys="[" collapsed={collapsed}>
      <button
        type="button"
        onClick={onToggle}
        aria-expanded={!collapsed}
        aria-label={collapsed ? 'Open the sidebar' : 'Collapse the sidebar'}
        className={cx(rowClass, quiet)}
      >
        <Icon aria-hidden className="size-4 shrink-0" />
        {collapsed ? null : (
          <>
            <span className="flex-1 text-left">Collapse</span>
            <Kbd>[</Kbd>
          </>
        )}
      </button>
    </Hint>
  );
}

/** A tooltip with the text that a collapsed sidebar hides. */
function Hint({
  text,
  keys,
  collapsed,
  children,
}: {
  text: string;
  keys?: string | undefined;
  collapsed: boolean;
  children: ReactNode;
}) {
  if (!collapsed) return children;
  return (
    <Tooltip content={text} shortcut={keys} side="right">
      {children}
    </Tooltip>
  );
}
