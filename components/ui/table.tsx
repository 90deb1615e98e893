import type { ComponentProps, ReactNode } from 'react';
import { cx } from './classes.ts';
import { ScrollRegion } from './scroll-region.tsx';
import { Skeleton } from './skeleton.tsx';

/** A dense table that scrolls sideways inside itself rather than moving the page. `label` is its accessible name. */
export function Table({ label, className, children }: { label: string; className?: string; children: ReactNode }) {
  return (
    <ScrollRegion label={label} className="overflow-x-auto focus-visible:-outline-offset-2">
      <table className={cx('w-full border-collapse text-left text-sm', className)}>{children}</table>
    </ScrollRegion>
  );
}

export function THead({ children }: { children: ReactNode }) {
  return (
    <thead>
      <tr className="border-b bg-sunken/60 text-xs text-muted">{children}</tr>
    </thead>
  );
}

export function Th({ className, ...rest }: ComponentProps<'th'>) {
  return <th scope="col" {...rest} className={cx('h-8 px-3 font-medium whitespace-nowrap', className)} />;
}

export function Tr({ className, ...rest }: ComponentProps<'tr'>) {
  return <tr {...rest} className={cx('border-b last:border-b-0 hover:bg-hover/60', className)} />;
}

export function Td({ className, ...rest }: ComponentProps<'td'>) {
  return <td {...rest} className={cx('h-11 px-3 py-1 align-middle', className)} />;
}

/** Rows of the same height as real ones, so that nothing moves when the data comes. */
export function SkeletonRows({ rows = 6, columns }: { rows?: number; columns: number }) {
  return Array.from({ length: rows }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: rows without identity
    <tr key={row} className="border-b last:border-b-0" aria-hidden>
      {Array.from({ length: columns }, (_, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: cells without identity
        <td key={column} className="h-11 px-3">
          <Skeleton className={column === 0 ? 'h-3.5 w-40' : 'h-3.5 w-16'} />
        </td>
      ))}
    </tr>
  ));
}
