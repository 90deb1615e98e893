import { type InvalidateOptions, type InvalidateQueryFilters, type Query, QueryClient } from '@tanstack/react-query';

/** The cache of what the console reads. */
export class ConsoleQueryClient extends QueryClient {
  /**
   * Marks what was read as out of date and repeats what the page shows. A first reading under way begins again: TanStack
   * Query waits for it, and then takes an answer from before the change for a new one.
   */
  override async invalidateQueries(filters?: InvalidateQueryFilters, options?: InvalidateOptions): Promise<void> {
    const { predicate, refetchType, ...rest } = filters ?? {};
    const isRepeated = (query: Query) => isFirstReading(query) && (predicate?.(query) ?? true);
    if (refetchType !== 'none') await this.cancelQueries({ ...rest, predicate: isRepeated });
    await super.invalidateQueries(filters, options);
  }
}

/** Whether a part of the page waits for the first answer of a query. */
const isFirstReading = (query: Query) =>
  query.isActive() && query.state.fetchStatus !== 'idle' && query.state.data === undefined;
