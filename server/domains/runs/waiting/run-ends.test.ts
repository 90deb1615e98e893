import { describe, expect, test } from 'vitest';
import type { StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { RunEnds } from './run-ends.ts';

type Listener = { tenantId: string; listener: (items: StreamItem[]) => void; interrupt?: (() => void) | undefined };

/** Creates a feed of events that the test controls. */
function feed() {
  const listeners = new Set<Listener>();
  const subscribe = (
    { tenantId }: { tenantId: string },
    listener: Listener['listener'],
    interrupt?: Listener['interrupt'],
  ) => {
    const entry = { tenantId, listener, interrupt };
    listeners.add(entry);
    return () => listeners.delete(entry);
  };
  const publish = (tenantId: string, runId: string, to: string) => {
    const event = { type: 'state_changed', data: { from: 'running', to, reason: 'all_steps_ended' } };
    const item = { kind: 'event', item: { seq: 1, runId, tenantId, projectId: 'p', workflowId: 'w', event } };
    for (const each of listeners) if (each.tenantId === tenantId) each.listener([item as unknown as StreamItem]);
  };
  return { listeners, subscribe: subscribe as never, publish };
}

const never = { timeoutMs: 600_000, find: () => Promise.resolve(null) };
const completed = { status: 'completed', error: null };

describe('a wait for the end of a run', () => {
  test('subscribes to one feed for each workspace, and unsubscribes at the end', async () => {
    const { listeners, subscribe, publish } = feed();
    const ends = new RunEnds({ subscribe }, { total: 10, perTenant: 10 });
    const releases = [ends.reserve('acme'), ends.reserve('acme'), ends.reserve('acme')];
    const [one, same, other] = ['r1', 'r1', 'r2'].map(runId => ends.wait({ tenantId: 'acme', runId }, never));
    expect(listeners.size).toBe(1);
    publish('acme', 'r1', 'paused');
    publish('rival', 'r1', 'completed');
    publish('acme', 'r1', 'completed');
    expect(await one).toEqual(completed);
    expect(await same).toEqual(completed);
    publish('acme', 'r2', 'stopped');
    expect(await other).toEqual({ status: 'stopped', error: null });
    for (const release of releases) release();
    expect([listeners.size, ends.reserved]).toEqual([0, 0]);
  });

  test('resolves with an earlier end of the run, and rejects if the end cannot be read', async () => {
    const ends = new RunEnds({ subscribe: feed().subscribe }, { total: 1, perTenant: 1 });
    const release = ends.reserve('acme');
    const run = { tenantId: 'acme', runId: 'r' };
    const early = { ...never, find: () => Promise.resolve({ status: 'completed' as const, error: null }) };
    expect(await ends.wait(run, early)).toEqual(completed);
    const away = { ...never, find: () => Promise.reject(new Error('away')) };
    await expect(ends.wait(run, away)).rejects.toThrow('away');
    release();
  });

  test('resolves with null when the client disconnects, the feed is interrupted, or the process stops', async () => {
    const { listeners, subscribe } = feed();
    const ends = new RunEnds({ subscribe }, { total: 10, perTenant: 10 });
    const release = ends.reserve('acme');
    const run = { tenantId: 'acme', runId: 'r' };
    let leave = () => undefined as unknown;
    const gone = ends.wait(run, {
      ...never,
      onDisconnect: listener => {
        leave = listener;
        return () => undefined;
      },
    });
    leave();
    expect(await gone).toBeNull();
    const interrupted = ends.wait(run, never);
    for (const { interrupt } of listeners) interrupt?.();
    expect(await interrupted).toBeNull();
    const stopped = ends.wait(run, never);
    ends.close();
    expect(await stopped).toBeNull();
    expect(await ends.wait(run, never)).toBeNull();
    release();
    expect(listeners.size).toBe(0);
  });

  test('gets a place up to the limits', () => {
    const ends = new RunEnds({ subscribe: feed().subscribe }, { total: 3, perTenant: 2 });
    const release = ends.reserve('acme');
    ends.reserve('acme');
    expect(() => ends.reserve('acme')).toThrow('2 requests of this workspace');
    ends.reserve('rival');
    expect(() => ends.reserve('rival')).toThrow('3 requests of this service');
    release();
    ends.reserve('rival');
    expect(ends.reserved).toBe(3);
  });
});
