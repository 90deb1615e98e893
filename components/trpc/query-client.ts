import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient } from '@tanstack/react-query';

/** The cache of the console's queries. */
export class ConsoleQueryClient extends QueryClient {
  /**
   * Marks queries as stale and refetches those in use on the page. Restarts a first fetch in progress: TanStack Query
   * would wait for it, and then treat an answer from before the change as fresh.
   */
  override invalidateQueries(filters: InvalidateQueryFilters = {}, options?: InvalidateOptions): Promise<void> {
    return this.cancelQueries({
      ...filters,
      predicate: query => query.state.status === 'pending' && query.isActive() && filters.predicate?.(query) !== false,
    }).then(() => super.invalidateQueries(filters, options));
  }
}
