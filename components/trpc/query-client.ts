import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient } from '@tanstack/react-query';

/** The cache of what the console reads. */
export class ConsoleQueryClient extends QueryClient {
  /**
   * Marks what was read as out of date and repeats what the page shows. A first reading under way begins again: TanStack
   * Query waits for it, and then takes an answer from before the change for a new one.
   */
  override invalidateQueries(filters: InvalidateQueryFilters = {}, options?: InvalidateOptions): Promise<void> {
    return this.cancelQueries({
      ...filters,
      predicate: query => query.state.status === 'pending' && query.isActive() && filters.predicate?.(query) !== false,
    }).then(() => super.invalidateQueries(filters, options));
  }
}
