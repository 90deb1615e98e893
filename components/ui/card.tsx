import type { ReactNode } from 'react';
import { cx } from './classes.ts';

/** A bordered surface, with an optional heading row. */
export function Card({
  title,
  description,
  actions,
  flush = false,
  className,
  children,
}: {
  title?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  /** No padding around the content: for tables and lists. */
  flush?: boolean;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section className={cx('rounded-lg border bg-surface shadow-sm', className)}>
      {title ? (
        <div className="flex flex-wrap items-center justify-between gap-3 border-b px-4 py-3">
          <div>
            <h2 className="text-lg font-semibold">{title}</h2>
            {description ? <p className="text-sm text-muted">{description}</p> : null}
          </div>
          {actions ? <div className="flex items-center gap-2">{actions}</div> : null}
        </div>
      ) : null}
      <div className={flush ? cx('overflow-hidden rounded-b-lg', !title && 'rounded-t-lg') : 'p-4'}>{children}</div>
    </section>
  );
}
