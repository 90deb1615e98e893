import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DraftSaver, type SaveOutcome, type SaveState } from './draft-saver.ts';

/** A server in memory whose answers the test controls. */
function setUp() {
  const calls: { text: string; etag: string; answer: (outcome: SaveOutcome) => void }[] = [];
  const states: SaveState['kind'][] = [];
  const saver = new DraftSaver({
    value: 'v1',
    etag: '1',
    save: (text, etag) => new Promise(answer => calls.push({ text, etag, answer })),
    check: text => (text.includes('bad') ? 'does not parse' : null),
    onState: state => states.push(state.kind),
    delayMs: 100,
  });
  return { saver, calls, states };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('saving a draft while the user types', () => {
  it('waits for a pause, then saves once, based on the draft that was read', async () => {
    const { saver, calls, states } = setUp();
    saver.edit('v2');
    await vi.advanceTimersByTimeAsync(99);
    saver.edit('v3');
    await vi.advanceTimersByTimeAsync(99);
    expect(calls).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls.map(({ text, etag }) => [text, etag])).toEqual([['v3', '1']]);
    calls[0]?.answer({ kind: 'saved', etag: '2' });
    await vi.advanceTimersByTimeAsync(0);
    expect(states.at(-1)).toBe('saved');
    expect(saver.dirty).toBe(false);
  });

  it('saves edits made during a save, based on that save', async () => {
    const { saver, calls } = setUp();
    saver.edit('v2');
    await vi.advanceTimersByTimeAsync(100);
    saver.edit('v3');
    await vi.advanceTimersByTimeAsync(500);
    expect(calls).toHaveLength(1);
    calls[0]?.answer({ kind: 'saved', etag: '2' });
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.slice(1).map(({ text, etag }) => [text, etag])).toEqual([['v3', '2']]);
  });

  it('a flush during a save resolves when everything is saved', async () => {
    const { saver, calls } = setUp();
    saver.edit('v2');
    await vi.advanceTimersByTimeAsync(100);
    const answered: SaveState['kind'][] = [];
    const wait = () => void saver.flush().then(({ kind }) => answered.push(kind));
    wait();
    saver.edit('v3');
    wait();
    calls[0]?.answer({ kind: 'saved', etag: '2' });
    await vi.advanceTimersByTimeAsync(0);
    expect(answered).toEqual([]);
    calls[1]?.answer({ kind: 'saved', etag: '3' });
    await vi.advanceTimersByTimeAsync(0);
    expect(answered).toEqual(['saved', 'saved']);
    expect(calls.map(({ text }) => text)).toEqual(['v2', 'v3']);
    // If the save fails, the waiting caller receives `failed`.
    saver.edit('v4');
    await vi.advanceTimersByTimeAsync(100);
    wait();
    calls[2]?.answer({ kind: 'failed', error: new Error('away') });
    await vi.advanceTimersByTimeAsync(0);
    expect(answered.at(-1)).toBe('failed');
  });

  it('never overwrites after a conflict until both sides are merged', async () => {
    const { saver, calls } = setUp();
    saver.edit('mine');
    await vi.advanceTimersByTimeAsync(100);
    calls[0]?.answer({ kind: 'conflict' });
    await vi.advanceTimersByTimeAsync(0);
    saver.edit('mine too');
    await vi.advanceTimersByTimeAsync(1000);
    await saver.flush();
    expect(calls).toHaveLength(1);
    expect(saver.state.kind).toBe('conflict');
    void saver.rebase('both', 'theirs', '7');
    expect(calls.slice(1).map(({ text, etag }) => [text, etag])).toEqual([['both', '7']]);
    expect(saver.saved).toBe('theirs');
  });

  it('does not send JSON that does not parse, and keeps it', async () => {
    const { saver, calls } = setUp();
    saver.edit('bad');
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls).toHaveLength(0);
    expect(saver.state).toEqual({ kind: 'invalid', message: 'does not parse' });
    expect(saver.dirty).toBe(true);
    saver.edit('v1');
    expect(saver.state.kind).toBe('saved');
  });

  it('keeps edits after a failed save, and saves them on the next try', async () => {
    const { saver, calls } = setUp();
    saver.edit('v2');
    await vi.advanceTimersByTimeAsync(100);
    calls[0]?.answer({ kind: 'failed', error: new Error('too large'), retryAfterMs: null });
    await vi.advanceTimersByTimeAsync(0);
    expect(saver.state).toMatchObject({ kind: 'failed', retryAt: null });
    expect(saver.dirty).toBe(true);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(calls).toHaveLength(1);
    void saver.flush();
    expect(calls.map(({ text, etag }) => [text, etag])).toEqual([
      ['v2', '1'],
      ['v2', '1'],
    ]);
    calls[1]?.answer({ kind: 'failed', error: new Error('too large'), retryAfterMs: null });
    await vi.advanceTimersByTimeAsync(0);
    // A shorter value is accepted.
    saver.edit('v');
    await vi.advanceTimersByTimeAsync(100);
    expect(calls.at(-1)?.text).toBe('v');
  });
});

describe('a failed save', () => {
  const fail = async ({ calls }: ReturnType<typeof setUp>, retryAfterMs?: number) => {
    calls.at(-1)?.answer({ kind: 'failed', error: new Error('away'), retryAfterMs });
    await vi.advanceTimersByTimeAsync(0);
  };
  const waitOf = ({ saver }: ReturnType<typeof setUp>) =>
    saver.state.kind === 'failed' ? (saver.state.retryAt ?? Number.NaN) - Date.now() : Number.NaN;

  it('is repeated at growing intervals, at most half a minute apart, until it succeeds', async () => {
    const one = setUp();
    one.saver.edit('v2');
    await vi.advanceTimersByTimeAsync(100);
    const waits: number[] = [];
    for (let n = 1; n <= 8; n += 1) {
      expect(one.calls).toHaveLength(n);
      await fail(one);
      const wait = waitOf(one);
      waits.push(wait);
      await vi.advanceTimersByTimeAsync(wait - 1);
      expect(one.calls).toHaveLength(n);
      await vi.advanceTimersByTimeAsync(1);
    }
    [1, 2, 4, 8, 16, 30, 30, 30].forEach((seconds, at) => {
      expect(waits[at]).toBeGreaterThanOrEqual(seconds * 800);
      expect(waits[at]).toBeLessThanOrEqual(seconds * 1_200);
    });
    one.calls.at(-1)?.answer({ kind: 'saved', etag: '2' });
    await vi.advanceTimersByTimeAsync(0);
    expect(one.saver.state.kind).toBe('saved');
    expect(one.saver.dirty).toBe(false);
    // The next failure starts with the first interval again.
    one.saver.edit('v3');
    await vi.advanceTimersByTimeAsync(100);
    await fail(one);
    expect(waitOf(one)).toBeLessThanOrEqual(1_200);
  });

  it('waits as long as the server asks', async () => {
    const one = setUp();
    one.saver.edit('v2');
    await vi.advanceTimersByTimeAsync(100);
    await fail(one, 60_000);
    expect(waitOf(one)).toBe(60_000);
  });

  it('includes later edits in the retry, but does not retry earlier', async () => {
    const one = setUp();
    one.saver.edit('v2');
    await vi.advanceTimersByTimeAsync(100);
    await fail(one, 5_000);
    one.saver.edit('v3');
    await vi.advanceTimersByTimeAsync(4_999);
    expect(one.calls).toHaveLength(1);
    expect(one.saver.state.kind).toBe('failed');
    await vi.advanceTimersByTimeAsync(1);
    expect(one.calls.map(({ text }) => text)).toEqual(['v2', 'v3']);
  });

  it('is not retried once nothing is left to save, or the rest cannot be saved', async () => {
    const one = setUp();
    one.saver.edit('v2');
    await vi.advanceTimersByTimeAsync(100);
    await fail(one);
    one.saver.edit('bad');
    expect(one.saver.state.kind).toBe('invalid');
    one.saver.edit('v1');
    expect(one.saver.state.kind).toBe('saved');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(one.calls).toHaveLength(1);
  });
});
