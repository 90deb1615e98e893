import { cx } from './classes.ts';

/** A gray block in place of content that is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden data-skeleton className={cx('block animate-pulse-soft rounded-sm bg-hover', className)} />;
}
