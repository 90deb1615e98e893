import type { Logger } from '../../platform/logger.ts';
import type { StreamItem } from '../ports/orchestrator.ts';

export type StreamFilter = { tenantId: string; workflowId?: string; runId?: string };
type Subscription = {
  filter: StreamFilter;
  listener: (items: StreamItem[]) => void;
  onInterrupted: (() => void) | undefined;
};

/** Sends committed events to the listeners in this process, in the order of their publication. */
export class EventBroadcaster {
  readonly #byTenant = new Map<string, Set<Subscription>>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Returns whether anyone listens to the tenant. If not, the caller need not build items. */
  hasListeners(tenantId: string): boolean {
    return this.#byTenant.has(tenantId);
  }

  subscribe(filter: StreamFilter, listener: (items: StreamItem[]) => void, onInterrupted?: () => void): () => void {
    const subscription: Subscription = { filter, listener, onInterrupted };
    const subscriptions = this.#byTenant.get(filter.tenantId) ?? new Set();
    this.#byTenant.set(filter.tenantId, subscriptions.add(subscription));
    return () => {
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && this.#byTenant.get(filter.tenantId) === subscriptions)
        this.#byTenant.delete(filter.tenantId);
    };
  }

  /** All `items` belong to one run. A listener that throws does not affect the others. */
  publish(items: StreamItem[]): void {
    const [first] = items;
    if (first === undefined) return;
    const { tenantId, workflowId, runId } = first.item;
    for (const { filter, listener } of this.#byTenant.get(tenantId) ?? []) {
      if (filter.workflowId !== undefined && filter.workflowId !== workflowId) continue;
      if (filter.runId !== undefined && filter.runId !== runId) continue;
      try {
        listener(items);
      } catch (error) {
        this.#logger.error({ err: error, run_id: runId, tenant_id: tenantId }, 'a stream listener failed');
      }
    }
  }

  /**
   * Tells the listeners of these workspaces, by default all, that events may have been committed that they did not receive.
   */
  interrupt(isOf: (tenantId: string) => boolean = () => true): void {
    const interrupted = [...this.#byTenant].filter(([tenantId]) => isOf(tenantId));
    for (const { onInterrupted } of interrupted.flatMap(([, each]) => [...each])) onInterrupted?.();
  }
}
