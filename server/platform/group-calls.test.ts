import { describe, expect, test } from 'vitest';
import { groupCalls } from './group-calls.ts';

/** Creates calls that the test ends. */
function controlled(maxKeys?: number) {
  const reads: { keys: readonly string[]; end(values?: readonly string[]): void; fail(error: Error): void }[] = [];
  const read = groupCalls<string, string>(
    key => key,
    keys =>
      new Promise((resolve, reject) => {
        reads.push({ keys, end: values => resolve(values ?? keys.map(key => `${key}!`)), fail: reject });
      }),
    maxKeys,
  );
  const end = async (at: number, values?: readonly string[]) => {
    reads[at]?.end(values);
    await new Promise(resolve => setImmediate(resolve));
  };
  return { reads, read, end };
}

describe('calls that are made at the same time', () => {
  test('a single call starts immediately', async () => {
    const { reads, read, end } = controlled();
    const value = read('a');
    expect(reads.map(({ keys }) => keys)).toEqual([['a']]);
    await end(0);
    await expect(value).resolves.toBe('a!');
  });

  test('share one call, each key once, and every caller gets the value of its key', async () => {
    const { reads, read, end } = controlled();
    const first = read('a');
    const others = [read('b'), read('c'), read('b')];
    await end(0);
    expect(reads.map(({ keys }) => keys)).toEqual([['a'], ['b', 'c']]);
    await end(1);
    await expect(Promise.all([first, ...others])).resolves.toEqual(['a!', 'b!', 'c!', 'b!']);
  });

  test('never get the value of a call that started before they were made', async () => {
    const { reads, read, end } = controlled();
    const before = read('a');
    const after = read('a');
    await end(0, ['old']);
    expect(reads.length).toBe(2);
    await end(1, ['new']);
    await expect(Promise.all([before, after])).resolves.toEqual(['old', 'new']);
  });

  test('fail together, and the next call is independent of the failed one', async () => {
    const { reads, read, end } = controlled();
    const first = read('a').catch(error => error);
    const second = read('b');
    reads[0]?.fail(new Error('the database is away'));
    await end(0);
    await end(1);
    expect(await first).toEqual(new Error('the database is away'));
    await expect(second).resolves.toBe('b!');
  });

  test('are split into groups of a limited size', async () => {
    const { reads, read, end } = controlled(2);
    const values = ['a', 'b', 'c', 'd'].map(key => read(key));
    for (const at of [0, 1, 2]) await end(at);
    expect(reads.map(({ keys }) => keys)).toEqual([['a'], ['b', 'c'], ['d']]);
    await expect(Promise.all(values)).resolves.toEqual(['a!', 'b!', 'c!', 'd!']);
  });

  test('fail if the call returns the wrong number of values', async () => {
    const { read, end } = controlled();
    const value = read('a').catch(error => error);
    await end(0, []);
    expect(await value).toEqual(new Error('1 keys got 0 values.'));
  });
});
