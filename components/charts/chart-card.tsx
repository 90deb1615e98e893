'use client';
import { ChartNoAxesColumn, Download, Table2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { readError } from '../trpc/errors.ts';
import { IconButton } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { cx } from '../ui/classes.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { download, fileName } from '../workflows/download.ts';
import { toCsv } from './csv.ts';
import { FigureTable } from './figure-table.tsx';
import type { Figures } from './figures.ts';

/** The part of a query that a card needs. */
export type ChartQuery<D> = { data: D | undefined; isError: boolean; error: unknown; refetch: () => unknown };

type Props<D> = {
  /** Names the card in the URL while its table is shown. */
  id: string;
  title: string;
  description?: ReactNode;
  query: ChartQuery<D>;
  figures: (data: D) => Figures;
  /** What is said in the chart's place when there is nothing to draw. */
  empty: ReactNode;
  isEmpty: (data: D) => boolean;
  /** Pixels that the content has in every state, so that nothing moves; longer tables scroll within. Absent: as high as it needs. */
  height?: number;
  className?: string;
  children: (data: D) => ReactNode;
};

/** A chart with its states, its table and its CSV: all three of the same numbers. */
export function ChartCard<D>({ id, title, description, query, className, ...rest }: Props<D>) {
  const { get, set } = useUrlState();
  const tables = get('tables').split(' ').filter(Boolean);
  const asTable = tables.includes(id);
  const { data } = query;
  const hasFigures = data !== undefined && !rest.isEmpty(data);
  const toggle = () => set({ tables: (asTable ? tables.filter(each => each !== id) : [...tables, id]).join(' ') });
  const save = () => data && download(fileName(title, 'csv'), 'text/csv;charset=utf-8', toCsv(rest.figures(data)));
  return (
    <Card
      title={title}
      description={description}
      className={cx('flex min-w-0 flex-col', className)}
      actions={
        <>
          <IconButton
            label={`Show ${title} as table`}
            size="sm"
            aria-pressed={asTable}
            disabled={!hasFigures}
            onClick={toggle}
          >
            {asTable ? (
              <ChartNoAxesColumn aria-hidden className="size-3.5" />
            ) : (
              <Table2 aria-hidden className="size-3.5" />
            )}
          </IconButton>
          <IconButton label={`Download ${title} as CSV`} size="sm" disabled={!hasFigures} onClick={save}>
            <Download aria-hidden className="size-3.5" />
          </IconButton>
        </>
      }
    >
      <Content {...rest} title={title} query={query} asTable={asTable} />
    </Card>
  );
}

type ContentProps<D> = Omit<Props<D>, 'id' | 'description' | 'className'> & { asTable: boolean };

function Content<D>({ title, query, figures, empty, isEmpty, height, asTable, children }: ContentProps<D>) {
  const { data } = query;
  // A table of hundreds of rows scrolls within the card, whatever the height of the chart.
  const frame = height === undefined ? { minHeight: 120 } : { height };
  if (data === undefined && query.isError)
    return (
      <div style={frame} className="overflow-auto">
        <ChartError error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  if (data === undefined)
    return (
      <div style={frame} aria-busy>
        <Skeleton className="size-full min-h-30" />
      </div>
    );
  if (isEmpty(data))
    return (
      <div style={frame} className="flex items-center justify-center px-4 text-center text-sm text-muted">
        <div>{empty}</div>
      </div>
    );
  if (!asTable) return <div style={height === undefined ? undefined : { minHeight: height }}>{children(data)}</div>;
  return (
    <div style={height === undefined ? { maxHeight: 400 } : { height }} className="overflow-y-auto rounded-md border">
      <FigureTable label={title} figures={figures(data)} />
    </div>
  );
}

/** 503 passes by itself and loses nothing, and says so; everything else is an error like any other. */
function ChartError({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return readError(error).status === 503 ? (
    <ErrorState title="These numbers are not available right now" error={error} onRetry={onRetry} />
  ) : (
    <ErrorState error={error} onRetry={onRetry} />
  );
}
