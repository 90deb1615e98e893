import { expect } from 'vitest';
import type { RunStatus } from '../orchestrator/core/index.ts';
import type { Orchestrator, StreamItem } from '../orchestrator/ports/orchestrator.ts';
import { newId } from '../platform/ids.ts';
import type { TestDatabase } from './postgres.ts';

type Listener = (items: StreamItem[]) => void;
type Filter = Parameters<Orchestrator['subscribe']>[0];
/** The tenant and the project of a test's rows and events. */
export type FeedScope = { tenantId: string; projectId: string };

/** The source of live events in tests of streams: it hands over committed facts as the runtime would. */
export class TestFeed {
  readonly #listeners = new Map<Listener, Filter>();
  readonly #interrupted = new Map<Listener, (() => void) | undefined>();
  /** Called when a subscription begins: the instant between subscribing and replaying. */
  onSubscribe: () => void = () => undefined;
  subscribe = (filter: Filter, listener: Listener, onInterrupted?: () => void): (() => void) => {
    this.#listeners.set(listener, filter);
    this.#interrupted.set(listener, onInterrupted);
    this.onSubscribe();
    return () => this.#listeners.delete(listener);
  };
  interrupt(): void {
    for (const listener of this.#listeners.keys()) this.#interrupted.get(listener)?.();
  }
  /** The number of listeners. */
  get size(): number {
    return this.#listeners.size;
  }
  publish(items: StreamItem[]): void {
    for (const [listener, filter] of this.#listeners) {
      const visible = items.filter(
        ({ item }) =>
          item.tenantId === filter.tenantId &&
          (filter.workflowId ?? item.workflowId) === item.workflowId &&
          (filter.runId ?? item.runId) === item.runId,
      );
      if (visible.length > 0) listener(visible);
    }
  }
  /** Returns a leading orchestrator with this feed, which accepts no commands. */
  orchestrator(): Orchestrator {
    const never = () => expect.unreachable('the stream commands nothing');
    return {
      start: never,
      reject: never,
      command: never,
      completeTask: never,
      subscribe: this.subscribe,
      status: () => 'leading',
      leads: () => true,
      ownerOf: () => ({ kind: 'here' }),
      leadsJobs: () => true,
      shards: () => 'all',
      unavailableReason: () => null,
      creditsChanged: () => undefined,
    };
  }
}

export async function insertWorkflow(db: TestDatabase, { tenantId, projectId }: FeedScope): Promise<string> {
  const id = newId();
  const at = new Date();
  await db.prisma.workflow.create({
    data: {
      id,
      tenantId,
      projectId,
      name: 'Watched',
      description: '',
      status: 'published',
      graph: { steps: [] },
      runSetup: {},
      revision: 1,
      latestVersion: 1,
      graphChecksum: '',
      createdBy: newId(),
      createdAt: at,
      updatedAt: at,
    },
  });
  return id;
}

/** Inserts a run with `count` logged events and returns its id. The last event ends the run, unless the run is to be running. */
export async function insertRun(
  db: TestDatabase,
  { tenantId, projectId, workflowId }: FeedScope & { workflowId: string },
  count: number,
  status: RunStatus = 'running',
): Promise<string> {
  const id = newId();
  const at = new Date();
  await db.prisma.run.create({
    data: {
      id,
      tenantId,
      projectId,
      workflowId,
      version: 1,
      status,
      orchestrationPhase: 'executing',
      sessionId: id,
      triggerType: 'api',
      startedBy: 'x',
      startedAt: at,
      stepsTotal: 1,
      stepsDone: 0,
      pendingTasks: 0,
      lastSeq: count,
    },
  });
  const events = Array.from({ length: count }, (_, index) =>
    status !== 'running' && index + 1 === count
      ? { runId: id, seq: count, eventType: 'state_changed', data: { from: 'running', to: status }, createdAt: at }
      : {
          runId: id,
          seq: index + 1,
          eventType: 'step_log',
          stepId: 'a',
          attempt: 1,
          data: { lines: ['line'] },
          createdAt: at,
        },
  );
  await db.prisma.runEvent.createMany({ data: events });
  return id;
}

type EventScope = FeedScope & { workflowId: string; runId: string };

/** Returns a committed `step_log`. */
export const liveEvent = (scope: EventScope, seq: number, lines = ['live']): StreamItem => ({
  kind: 'event',
  item: { ...scope, seq, event: { at: 0, type: 'step_log', step: 'a', attempt: 1, data: { lines } } },
});

/** Returns the committed end of a run. */
export const liveEnd = (scope: EventScope, seq: number): StreamItem => ({
  kind: 'event',
  item: { ...scope, seq, event: { at: 0, type: 'state_changed', data: { from: 'running', to: 'completed' } } },
});
