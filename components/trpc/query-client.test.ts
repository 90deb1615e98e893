import { QueryObserver } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { ConsoleQueryClient } from './query-client.ts';

const client = new ConsoleQueryClient();
afterEach(() => client.clear());

/** Observes a query that the test answers: `answer(0, …)` answers the first fetch. */
function observe(queryKey: readonly string[]) {
  const readings: PromiseWithResolvers<string>[] = [];
  const queryFn = () => {
    const reading = Promise.withResolvers<string>();
    readings.push(reading);
    return reading.promise;
  };
  const observer = new QueryObserver(client, { queryKey, queryFn, staleTime: Number.POSITIVE_INFINITY });
  const stop = observer.subscribe(() => undefined);
  return {
    stop,
    readings,
    shown: () => observer.getCurrentResult().data,
    state: () => observer.getCurrentResult().status,
    answer: (at: number, text: string) => readings[at]?.resolve(text),
  };
}

test('a change during the first fetch restarts the fetch', async () => {
  const list = observe(['invitations']);
  const invalidated = client.invalidateQueries({ queryKey: ['invitations'] });
  await vi.waitFor(() => expect(list.readings).toHaveLength(2));
  list.answer(0, 'from before the change');
  list.answer(1, 'from after it');
  await invalidated;
  expect(list.shown()).toBe('from after it');
  list.stop();
});

test('a first fetch without a change continues', async () => {
  const list = observe(['members']);
  await client.invalidateQueries({ queryKey: ['invitations'] });
  await client.invalidateQueries({ queryKey: ['members'], predicate: () => false });
  expect(list.state()).toBe('pending');
  list.answer(0, 'everybody');
  await vi.waitFor(() => expect(list.shown()).toBe('everybody'));
  expect(list.readings).toHaveLength(1);
  list.stop();
});

test('previous data stays on the page during a refetch', async () => {
  const list = observe(['runs']);
  list.answer(0, 'old');
  await vi.waitFor(() => expect(list.shown()).toBe('old'));
  const invalidated = client.invalidateQueries();
  await vi.waitFor(() => expect(list.readings).toHaveLength(2));
  expect(list.shown()).toBe('old');
  list.answer(1, 'new');
  await invalidated;
  expect(list.shown()).toBe('new');
  list.stop();
});

test('a fetch outside of the page is not cancelled', async () => {
  const reading = Promise.withResolvers<string>();
  const fetched = client.fetchQuery({ queryKey: ['completion'], queryFn: () => reading.promise });
  await client.invalidateQueries();
  reading.resolve('steps');
  expect(await fetched).toBe('steps');
});
