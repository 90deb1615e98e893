'use client';
import { Search, TriangleAlert } from 'lucide-react';
import { usePathname } from 'next/navigation';
import { cx } from '../ui/classes.ts';
import { Kbd } from '../ui/kbd.tsx';
import { Link } from '../ui/link.tsx';
import type { ConsolePage } from './pages.ts';
import { ScopeSwitch } from './scope-switch.tsx';
import { useInboxCount } from './use-inbox-count.ts';
import { usePages } from './use-pages.ts';
import { UserMenu } from './user-menu.tsx';

/** Scope, search, pages, user: from top to bottom. */
export function Sidebar({ onSearch, onHelp }: { onSearch: () => void; onHelp: () => void }) {
  const waiting = useInboxCount();
  const { main, settings } = usePages();
  return (
    <div className="flex h-full flex-col gap-3 p-3">
      <ScopeSwitch />
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 items-center gap-2 rounded-md border bg-surface px-2.5 text-sm text-muted shadow-sm hover:border-line-strong hover:text-text"
      >
        <Search aria-hidden className="size-3.5" />
        <span className="flex-1 text-left">Search or go to</span>
        <Kbd>⌘ K</Kbd>
      </button>
      <nav aria-label="Main" className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto">
        <ul className="flex flex-col gap-0.5">
          {main.map(page => (
            <PageLink key={page.href} page={page} badge={page.href === '/inbox' ? waiting : undefined} />
          ))}
        </ul>
        <div>
          <p className="px-2 pb-1 text-xs text-faint">Settings</p>
          <ul className="flex flex-col gap-0.5">
            {settings.map(page => (
              <PageLink key={page.href} page={page} />
            ))}
          </ul>
        </div>
      </nav>
      <UserMenu onHelp={onHelp} />
    </div>
  );
}

function PageLink({ page, badge }: { page: ConsolePage; badge?: string | null | undefined }) {
  const pathname = usePathname();
  const current = pathname === page.href || pathname.startsWith(`${page.href}/`);
  const Icon = page.icon;
  return (
    <li>
      <Link
        href={page.href}
        aria-current={current ? 'page' : undefined}
        className={cx(
          'flex h-8 items-center gap-2 rounded-md px-2 text-sm focus-visible:-outline-offset-2',
          current ? 'bg-active font-medium text-text' : 'text-muted hover:bg-hover hover:text-text',
        )}
      >
        <Icon aria-hidden className="size-4 shrink-0" />
        <span className="flex-1">{page.label}</span>
        {badge === null ? (
          <TriangleAlert role="img" aria-label="Could not count the waiting tasks" className="size-3.5 text-warn" />
        ) : badge ? (
          <span className="rounded-full bg-accent px-1.5 text-xs leading-5 font-medium text-on-accent tabular-nums">
            {badge}
            <span className="sr-only"> waiting</span>
          </span>
        ) : null}
      </Link>
    </li>
  );
}
