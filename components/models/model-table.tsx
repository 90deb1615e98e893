'use client';
import { useQuery } from '@tanstack/react-query';
import { ExternalLink, SearchX } from 'lucide-react';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Card } from '../ui/card.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { SkeletonRows, Table, Td, THead, Th, Tr } from '../ui/table.tsx';
import { useUrlState } from '../ui/use-url-state.ts';

type CatalogProvider = Outputs['llm_catalog_list']['providers'][number];
type Entry = { provider: CatalogProvider; model: CatalogProvider['models'][number] };

const COLUMNS = ['Model', 'Model ID', 'Provider', 'Context tokens', 'Output tokens', 'Takes'];

/** Models to choose from, each with the id that steps use. */
export function ModelTable() {
  const trpc = useTRPC();
  const { get, set } = useUrlState();
  const catalog = useQuery(trpc.llm_catalog_list.queryOptions({}));
  const q = get('q').toLowerCase();
  const entries = catalog.data?.providers.flatMap(provider => provider.models.map(model => ({ provider, model })));
  const shown = entries?.filter(({ provider, model }) =>
    `${model.id} ${model.name} ${provider.name}`.toLowerCase().includes(q),
  );
  return (
    <Card
      title="Models"
      description="A selection. You can use any other model of a provider by name."
      actions={<SearchInput label="Search models" value={get('q')} onChange={value => set({ q: value })} />}
      flush
    >
      {catalog.isError && !entries ? (
        <ErrorState error={catalog.error} onRetry={() => void catalog.refetch()} />
      ) : shown?.length === 0 ? (
        <EmptyState icon={SearchX} title="No model matches">
          A step can use any model of a provider, as <code>provider/model</code>.
        </EmptyState>
      ) : (
        <Table label="Models" cards={COLUMNS}>
          <THead>
            {COLUMNS.map(column => (
              <Th key={column}>{column}</Th>
            ))}
          </THead>
          <tbody>
            {shown ? (
              shown.map(entry => <Row key={entry.model.id} {...entry} />)
            ) : (
              <SkeletonRows columns={COLUMNS.length} />
            )}
          </tbody>
        </Table>
      )}
    </Card>
  );
}

function Row({ provider, model }: Entry) {
  return (
    <Tr>
      <Td className="min-w-40 font-medium">{model.name}</Td>
      <Td>
        <span className="flex items-center gap-1 whitespace-nowrap">
          <code className="text-xs">{model.id}</code>
          <CopyButton text={model.id} label={`Copy ${model.id}`} />
        </span>
      </Td>
      <Td>
        <span className="flex items-center gap-2 whitespace-nowrap">
          <a
            href={provider.documentation_url}
            target="_blank"
            rel="noreferrer"
            className="inline-flex items-center gap-1 hover:underline"
          >
            {provider.name}
            <ExternalLink aria-hidden className="size-3 text-faint" />
            <span className="sr-only">(opens in a new tab)</span>
          </a>
          {provider.configured ? null : <Badge>No key</Badge>}
        </span>
      </Td>
      <Td className="whitespace-nowrap">{tokens(model.context_window)}</Td>
      <Td className="whitespace-nowrap">{tokens(model.max_output)}</Td>
      <Td>
        <span className="flex flex-wrap gap-1">
          {model.supports.structured_output ? <Badge>Schema</Badge> : null}
          {model.supports.temperature ? <Badge>Temperature</Badge> : null}
          {model.supports.tools ? <Badge>Tools</Badge> : null}
          {model.supports.embeddings ? <Badge>Embeddings</Badge> : null}
        </span>
      </Td>
    </Tr>
  );
}

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const tokens = (count: number | undefined) =>
  count === undefined ? <span className="text-faint">Not listed</span> : short.format(count);
