import type { ComponentProps, CSSProperties, ReactNode } from 'react';
import { cx } from './classes.ts';
import { ScrollRegion } from './scroll-region.tsx';
import { Skeleton } from './skeleton.tsx';

/**
 * A dense table that scrolls horizontally within itself, so that the page does not. `label` is its accessible name.
 * With `cards`, the headings of its columns (up to nine), each row is a card on a phone (app/globals.css). The title of
 * a card is the first cell, or the one with the class `card-title`. A last cell without a heading contains the actions.
 * The other cells show their headings.
 */
export function Table({
  label,
  cards,
  numeric,
  className,
  children,
}: {
  label: string;
  cards?: readonly string[];
  /** For each column, true if it is numeric: right-aligned, with digits of equal width. */
  numeric?: readonly boolean[];
  className?: string;
  children: ReactNode;
}) {
  return (
    <ScrollRegion label={label} className="overflow-x-auto focus-visible:-outline-offset-2">
      <table
        className={cx(
          'w-full border-collapse text-left text-dense',
          cards && 'cards',
          cards?.at(-1) === '' && 'cards-with-actions',
          className,
        )}
        data-numeric={numeric?.flatMap((isNumeric, at) => (isNumeric ? [at + 1] : [])).join(' ')}
        style={cards && headingsOf(cards)}
      >
        {children}
      </table>
    </ScrollRegion>
  );
}

/** Returns the headings as custom properties `--heading-2`…, which the style sheet writes in front of the cells of a card. */
function headingsOf(columns: readonly string[]): CSSProperties {
  return Object.fromEntries(columns.map((column, index) => [`--heading-${index + 1}`, JSON.stringify(column)]));
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

/** Rows of the same height as real ones, so that nothing moves when the data arrives. */
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
