'use client';
import type { ReactNode } from 'react';
import { Card } from './card.tsx';
import { Pager } from './pager.tsx';
import { ErrorState } from './states.tsx';
import { SkeletonRows, Table, THead, Th } from './table.tsx';
import { useUrlState } from './use-url-state.ts';

/** The headings of numeric columns. */
const NUMBERS: ReadonlySet<string> = new Set([
  'Amount',
  'Attempt',
  'Consumed',
  'Credits',
  'Duration',
  'Expired',
  'Granted',
  'Included',
  'Instances',
  'Pay-as-you-go',
  'Quantity',
  'Size',
  'Tools',
  'Trial',
  'Unit price',
]);

type Props<T> = {
  /** The table's accessible name. */
  label: string;
  /** The headings; the column of a row's actions has an empty one. */
  columns: readonly string[];
  /** Elements that replace a column's heading. */
  headings?: Readonly<Record<string, ReactNode>>;
  /** Additional columns whose numbers are right-aligned. */
  numbers?: readonly string[];
  query: { isError: boolean; error: unknown; refetch: () => unknown };
  /** undefined while the first page is loading. */
  items: readonly T[] | undefined;
  /** The cursor of the next page. */
  next: string | null | undefined;
  row: (item: T) => ReactNode;
  /** Shown in place of an empty table. Without it, only the headings are shown. */
  empty?: ReactNode;
  skeletonRows?: number;
};

/** A paged list and its states: loading, failed, empty, rows. The `cursor` of the page is in the URL. */
export function ListCard<T>(props: Props<T>) {
  const { label, columns, headings, numbers, query, items, next, row, empty, skeletonRows } = props;
  const { get, set } = useUrlState();
  const cursor = get('cursor');
  if (query.isError && !items)
    return (
      <Card flush>
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      </Card>
    );
  if (empty && items?.length === 0) return <Card flush>{empty}</Card>;
  return (
    <Card flush>
      <Table label={label} cards={columns} numeric={columns.map(column => NUMBERS.has(column))}>
        <THead>
          {columns.map(column => (
            <Th key={column} className={numbers?.includes(column) ? 'text-right' : undefined}>
              {headings?.[column] ?? (column || <span className="sr-only">Actions</span>)}
            </Th>
          ))}
        </THead>
        <tbody>
          {items ? (
            items.map(row)
          ) : (
            <SkeletonRows columns={columns.length} {...(skeletonRows ? { rows: skeletonRows } : {})} />
          )}
        </tbody>
      </Table>
      <Pager cursor={cursor} next={next ?? null} onChange={page => set({ cursor: page }, { push: true })} />
    </Card>
  );
}
