'use client';
import { useQuery } from '@tanstack/react-query';
import { Download, SearchX } from 'lucide-react';
import { buttonClass } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { Page, PageHeader } from '../ui/page.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { ApiDocument, type ApiOperation, operationsOf } from './document.ts';
import { Method, OperationView } from './operation.tsx';

async function loadDocument(): Promise<ApiDocument> {
  const response = await fetch('/v1/openapi.json');
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return ApiDocument.parse(await response.json());
}

/** The HTTP API for people, rendered from the OpenAPI document that programs read. */
export function ApiReference() {
  const document = useQuery({ queryKey: ['openapi'], queryFn: loadDocument, staleTime: Number.POSITIVE_INFINITY });
  return (
    <Page>
      <PageHeader
        title="API reference"
        description="Everything in this console is available through the HTTP API. Authenticate with an API key."
        actions={
          <a href="/v1/openapi.json" download="openapi.json" className={buttonClass()}>
            <Download aria-hidden className="size-3.5" />
            OpenAPI 3.1
          </a>
        }
      />
      {document.data ? (
        <Reference document={document.data} />
      ) : document.isError ? (
        <ErrorState error={document.error} onRetry={() => void document.refetch()} />
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-6 lg:grid-cols-[320px_minmax(0,1fr)]">
          <Skeleton className="h-80 w-full" />
          <Skeleton className="h-80 w-full" />
        </div>
      )}
    </Page>
  );
}

function Reference({ document }: { document: ApiDocument }) {
  const { get, set } = useUrlState();
  const all = operationsOf(document);
  const words = get('q').toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter(operation => {
    const text =
      `${operation.method} ${operation.path} ${operation.id} ${operation.summary} ${operation.tag}`.toLowerCase();
    return words.every(word => text.includes(word));
  });
  const chosen = all.find(operation => operation.id === get('operation')) ?? found[0];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 lg:grid-cols-[320px_minmax(0,1fr)]">
      <div className="flex flex-col gap-3 lg:sticky lg:top-5 lg:max-h-[calc(100dvh-120px)]">
        <SearchInput wide label="Search operations" value={get('q')} onChange={q => set({ q })} />
        <OperationList
          operations={found}
          chosen={chosen?.id}
          onChoose={operation => set({ operation }, { push: true })}
        />
      </div>
      {chosen ? <OperationView key={chosen.id} operation={chosen} document={document} /> : null}
    </div>
  );
}

function OperationList({
  operations,
  chosen,
  onChoose,
}: {
  operations: ApiOperation[];
  chosen: string | undefined;
  onChoose: (id: string) => void;
}) {
  const tags = [...new Set(operations.map(operation => operation.tag))];
  if (operations.length === 0) return <EmptyState icon={SearchX} title="No operation matches" />;
  return (
    <ScrollRegion
      label="Operations"
      className="max-h-80 min-h-0 overflow-y-auto rounded-lg border bg-surface p-1.5 lg:max-h-none"
    >
      {tags.map(tag => (
        <div key={tag} className="mb-2 last:mb-0">
          <p className="px-2 py-1 text-xs text-faint capitalize">{tag}</p>
          {operations
            .filter(operation => operation.tag === tag)
            .map(operation => (
              <button
                key={operation.id}
                type="button"
                aria-current={operation.id === chosen ? 'true' : undefined}
                onClick={() => onChoose(operation.id)}
                className={cx(
                  'flex w-full items-center gap-2 rounded-md px-2 py-1 text-left text-sm',
                  operation.id === chosen ? 'bg-active' : 'hover:bg-hover',
                )}
              >
                <Method method={operation.method} />
                <span className="truncate">{operation.summary}</span>
              </button>
            ))}
        </div>
      ))}
    </ScrollRegion>
  );
}
