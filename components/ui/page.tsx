import type { ReactNode } from 'react';
import { cx } from './classes.ts';
import { Link } from './link.tsx';
import { Skeleton } from './skeleton.tsx';

/** The frame of a page: one `h1`, its actions, its content. Narrow and wide pages start at the same left edge. */
export function Page({ width = 'wide', children }: { width?: 'wide' | 'narrow'; children: ReactNode }) {
  return (
    <div className="mx-auto w-full max-w-350 px-4 py-5 sm:px-6">
      {width === 'wide' ? children : <div className="max-w-200">{children}</div>}
    </div>
  );
}

/**
 * The frame of a page that fills the space beside the sidebar: no padding, no maximum width. From 1024 px on it is as high as the window,
 * and scrolls inside (components/shell/shell.tsx). On narrower screens the page scrolls.
 */
export function FullBleed({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <div data-full-bleed className={cx('flex min-h-0 w-full min-w-0 flex-1 flex-col', className)}>
      {children}
    </div>
  );
}

export function PageHeader({
  title,
  description,
  parent,
  actions,
}: {
  title: ReactNode;
  description?: ReactNode;
  /** The parent page, linked before the title. */
  parent?: { href: string; label: string };
  actions?: ReactNode;
}) {
  return (
    <div className="mb-4 flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
      <div className="min-w-0">
        <div className="flex min-w-0 flex-wrap items-baseline gap-x-2">
          {parent ? (
            <span className="flex items-baseline gap-2 text-sm text-muted">
              <Link href={parent.href} className="hover:text-text hover:underline">
                {parent.label}
              </Link>
              <span aria-hidden>/</span>
            </span>
          ) : null}
          <h1 className="min-w-0 truncate text-xl font-semibold tracking-tight">{title}</h1>
        </div>
        {description ? <p className="text-sm text-muted">{description}</p> : null}
      </div>
      {actions ? (
        <div data-page-actions className="flex flex-wrap items-center gap-2">
          {actions}
        </div>
      ) : null}
    </div>
  );
}

/** The placeholder of a page that shows one resource: its title, a line about it, its content. */
export function PageSkeleton() {
  return (
    <Page>
      <div aria-busy className="flex flex-col gap-4">
        <Skeleton className="h-8 w-72" />
        <Skeleton className="h-5 w-96 max-w-full" />
        <Skeleton className="h-100 w-full" />
      </div>
    </Page>
  );
}
