'use client';
import { ChartNoAxesColumn, Download, Table2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { cx } from '../ui/classes.ts';
import { download, fileName } from '../ui/download.ts';
import { readError } from '../ui/errors.ts';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { toCsv } from './csv.ts';
import { FigureTable } from './figure-table.tsx';
import type { Figures } from './figures.ts';

/** The height of a list beside charts, in pixels: six rows. */
export const LIST_HEIGHT = 244;

/** The part of a query that a card needs. */
export type ChartQuery<D> = { data: D | undefined; isError: boolean; error: unknown; refetch: () => unknown };

type Props<D> = {
  /** Identifies the card in the URL while its table is shown. */
  id: string;
  title: string;
  description?: ReactNode;
  query: ChartQuery<D>;
  figures: (data: D) => Figures;
  /** The text in place of the chart if there is no data. */
  empty: ReactNode;
  isEmpty: (data: D) => boolean;
  /** The height of the content in pixels, in every state, so that nothing moves. */
  height: number;
  /** True if the content is a list that may be longer than `height` and scrolls. */
  scrolls?: boolean;
  className?: string;
  children: (data: D) => ReactNode;
};

/** A chart with its loading and error states, its table and its CSV, all of the same numbers. */
export function ChartCard<D>({ id, title, description, query, className, ...rest }: Props<D>) {
  const { get, set } = useUrlState();
  const tables = get('tables').split(' ').filter(Boolean);
  const asTable = tables.includes(id);
  const { data } = query;
  const hasFigures = data !== undefined && !rest.isEmpty(data);
  const toggle = () => set({ tables: (asTable ? tables.filter(each => each !== id) : [...tables, id]).join(' ') });
  const downloadCsv = () =>
    data && download(fileName(title, 'csv'), 'text/csv;charset=utf-8', toCsv(rest.figures(data)));
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
          <IconButton label={`Download ${title} as CSV`} size="sm" disabled={!hasFigures} onClick={downloadCsv}>
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

function Content<D>({ title, query, figures, empty, isEmpty, height, scrolls, asTable, children }: ContentProps<D>) {
  const { data } = query;
  if (data === undefined && query.isError)
    return (
      <ScrollRegion label={title} style={{ height }} className="overflow-auto">
        <ChartError error={query.error} onRetry={() => void query.refetch()} />
      </ScrollRegion>
    );
  if (data === undefined)
    return (
      <div style={{ height }} aria-busy>
        <Skeleton className="size-full" />
      </div>
    );
  if (isEmpty(data))
    return (
      <div style={{ height }} className="flex items-center justify-center px-4 text-center text-sm text-muted">
        {empty}
      </div>
    );
  if (asTable)
    return (
      <div style={{ height }}>
        <FigureTable label={title} figures={figures(data)} height={height} />
      </div>
    );
  if (scrolls)
    return (
      <ScrollRegion label={title} style={{ height }} className="overflow-y-auto">
        {children(data)}
      </ScrollRegion>
    );
  return <div style={{ minHeight: height }}>{children(data)}</div>;
}

/** For a 503, the title says that the data is unavailable only temporarily. Other errors are shown as usual. */
function ChartError({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return readError(error).status === 503 ? (
    <ErrorState title="This data is not available right now" error={error} onRetry={onRetry} />
  ) : (
    <ErrorState error={error} onRetry={onRetry} />
  );
}
