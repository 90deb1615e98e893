import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Draft, Step } from '../../server/domains/workflows/edits/index.ts';
import type { SaveOutcome } from './draft-saver.ts';
import { EditorStore, type Stored } from './editor-store.ts';
import { formatGraph } from './graph-text.ts';

const step = (id: string, ...depends_on: string[]): Step => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...(depends_on.length > 0 ? { depends_on } : {}),
});
const draftOf = (...steps: Step[]): Draft => ({ name: 'n', description: '', graph: { steps }, run_setup: {} });
const ADA = { id: 'ada', name: 'Ada' };
const textOf = (...steps: Step[]) => formatGraph({ steps });

/** Returns a store with an in-memory server that checks ETags. */
function setUp(...steps: Step[]) {
  let stored: Stored = { draft: draftOf(...steps), etag: '1' };
  const refusals: Error[] = [];
  let now = 0;
  let reading = () => Promise.resolve();
  const save = async (draft: Draft, etag: string): Promise<SaveOutcome> => {
    const error = refusals.shift();
    if (error) return { kind: 'failed', error };
    if (etag !== stored.etag) return { kind: 'conflict' };
    stored = { draft, etag: String(Number(etag) + 1) };
    return { kind: 'saved', etag: stored.etag };
  };
  const store = new EditorStore({
    ...stored,
    save,
    read: () => reading().then(() => stored),
    readSavers: async since => (since === stored.etag ? [] : [ADA]),
    delayMs: 100,
    now: () => now,
  });
  const other = (...theirs: Step[]) => {
    stored = { draft: draftOf(...theirs), etag: String(Number(stored.etag) + 1) };
  };
  const ids = () => store.state.draft.graph.steps.map(({ id }) => id);
  return {
    store,
    other,
    refusals,
    ids,
    server: () => stored.draft.graph.steps,
    setup: () => stored.draft.run_setup,
    later: (ms: number) => {
      now += ms;
    },
    /** Delays all later reads until this promise resolves. */
    readAfter: (until: Promise<void>) => {
      reading = () => until;
    },
    /** Makes all later reads fail. */
    readFails: () => {
      reading = () => Promise.reject(new TypeError('Failed to fetch'));
    },
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const pause = () => vi.advanceTimersByTimeAsync(100);

test('saves and undoes a change of the key order, both in typed JSON and in a form', async () => {
  const form = (...names: string[]) => ({ properties: Object.fromEntries(names.map(name => [name, {}])) });
  const stepWithForm = (...names: string[]): Step => ({ ...step('a'), form: form(...names) });
  const { store, server } = setUp(stepWithForm('x', 'y'));
  const saved = () => JSON.stringify(server()[0]?.form);
  store.typeText(textOf(stepWithForm('y', 'x')));
  await pause();
  expect(saved()).toBe('{"properties":{"y":{},"x":{}}}');
  store.change([{ type: 'update_step', step: 'a', set: { form: form('x', 'y') } }]);
  expect(store.dirty).toBe(true);
  await pause();
  expect(saved()).toBe('{"properties":{"x":{},"y":{}}}');
  expect(store.undo()).toBeNull();
  await pause();
  expect(saved()).toBe('{"properties":{"y":{},"x":{}}}');
});

test('saves and undoes a change that affects only the run setup', async () => {
  const { store, setup } = setUp(step('a'));
  const run_setup = { pinned_results: { a: 1 } };
  store.change([{ type: 'set_run_setup', run_setup }]);
  expect(store.dirty).toBe(true);
  await pause();
  expect(setup()).toEqual(run_setup);
  store.undo();
  await pause();
  expect(setup()).toEqual({});
});

describe('the history', () => {
  test('undoes and redoes alternating edits and typed JSON', () => {
    const { store, ids } = setUp(step('a'));
    store.change([{ type: 'add_step', step: step('b', 'a') }]);
    store.typeText(textOf(step('a'), step('b', 'a'), step('c', 'b')));
    store.change([{ type: 'remove_step', step: 'b', heal: true }]);
    expect(ids()).toEqual(['a', 'c']);
    store.undo();
    expect(ids()).toEqual(['a', 'b', 'c']);
    store.undo();
    expect(ids()).toEqual(['a', 'b']);
    store.undo();
    expect(ids()).toEqual(['a']);
    expect(store.state.canUndo).toBe(false);
    store.redo();
    store.redo();
    store.redo();
    expect(ids()).toEqual(['a', 'c']);
    expect(store.state.canRedo).toBe(false);
    store.undo();
    store.change([{ type: 'add_step', step: step('d') }]);
    expect(store.state.canRedo).toBe(false);
  });

  test('groups continuous typing into one step', () => {
    const { store, later } = setUp(step('a'));
    const type = (name: string) => store.change([{ type: 'update_step', step: 'a', set: { name } }], 'a.name');
    type('R');
    later(200);
    type('Re');
    later(2_000);
    type('Rea');
    store.undo();
    expect(store.state.draft.graph.steps[0]?.name).toBe('Re');
    store.undo();
    expect(store.state.draft.graph.steps[0]).toEqual(step('a'));
  });

  test('undoes several edits at once, and applies none of them if one fails', () => {
    const { store, ids } = setUp(step('a'), step('b', 'a'));
    const refused = store.change([
      { type: 'remove_step', step: 'a' },
      { type: 'remove_step', step: 'nowhere' },
    ]);
    expect(refused).toEqual({ ok: false, message: 'There is no step "nowhere".' });
    expect(ids()).toEqual(['a', 'b']);
    store.change([
      { type: 'remove_step', step: 'a' },
      { type: 'remove_step', step: 'b' },
    ]);
    store.undo();
    expect(store.state.draft.graph.steps).toEqual([step('a'), step('b', 'a')]);
  });

  test('undoes a rename', () => {
    const { store } = setUp(step('a'), step('b', 'a'));
    store.change([{ type: 'rename_step', step: 'a', to: 'first' }]);
    expect(store.state.draft.graph.steps[1]?.depends_on).toEqual(['first']);
    store.undo();
    expect(store.state.draft.graph.steps).toEqual([step('a'), step('b', 'a')]);
  });

  describe('large JSON', () => {
    const large = (id: string): Step => ({ ...step(id), script: `return "${'x'.repeat(50_000)}"` });
    const typed = (store: EditorStore, ...idsTyped: string[]) => store.typeText(textOf(...idsTyped.map(large)));

    test('is parsed after a pause in typing, as one step of the history', async () => {
      const { store, ids, server } = setUp(large('a'));
      const seen = vi.fn();
      store.subscribe(seen);
      typed(store, 'a', 'b');
      typed(store, 'a', 'b', 'c');
      expect(seen).not.toHaveBeenCalled();
      expect([ids(), store.dirty]).toEqual([['a'], true]);
      await vi.advanceTimersByTimeAsync(150);
      expect(ids()).toEqual(['a', 'b', 'c']);
      await pause();
      expect(server()).toHaveLength(3);
      store.undo();
      expect(ids()).toEqual(['a']);
    });

    test.each<[string, (store: EditorStore) => unknown, string[]]>([
      ['an edit of the canvas', store => store.change([{ type: 'add_step', step: step('c') }]), ['a', 'b', 'c']],
      ['undo', store => store.undo(), ['a']],
      ['saving', store => store.save(), ['a', 'b']],
      ['a text that is not large', store => store.typeText(textOf(step('d'))), ['d']],
    ])('is applied once before %s', async (_, act, expected) => {
      const { store, ids } = setUp(large('a'));
      typed(store, 'a', 'b');
      await act(store);
      expect(ids()).toEqual(expected);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(ids()).toEqual(expected);
    });

    test('is included in a merge with changes that others saved', async () => {
      const { store, ids, other, readAfter } = setUp(large('a'));
      const { promise, resolve } = Promise.withResolvers<void>();
      readAfter(promise);
      store.change([{ type: 'add_step', step: step('mine') }]);
      other(large('a'), step('theirs'));
      const saving = store.save();
      await vi.advanceTimersByTimeAsync(10);
      store.typeText(textOf(large('a'), step('mine'), step('more')));
      resolve();
      await saving;
      await vi.advanceTimersByTimeAsync(1_000);
      expect(ids().sort()).toEqual(['a', 'mine', 'more', 'theirs']);
    });
  });

  test('keeps JSON that does not parse, and leaves the canvas unchanged', async () => {
    const { store, ids, server } = setUp(step('a'));
    store.typeText('{"steps": [');
    await pause();
    expect(store.state).toMatchObject({ text: '{"steps": [', saveState: { kind: 'invalid' } });
    expect(store.change([{ type: 'add_step', step: step('b') }])).toMatchObject({ ok: false });
    expect(ids()).toEqual(['a']);
    store.discardText();
    expect(store.state).toMatchObject({ text: null, textProblem: null });
    store.undo();
    expect(store.state.text).toBe('{"steps": [');
    store.undo();
    expect(store.state.text).toBeNull();
    expect(server()).toEqual([step('a')]);
  });

  test('undoes JSON with two steps that share an id', () => {
    const { store, ids } = setUp(step('a'), step('b'));
    store.typeText(textOf(step('a'), step('a'), step('b')));
    store.typeText(textOf(step('a'), step('a')));
    expect(ids()).toEqual(['a', 'a']);
    store.undo();
    expect(store.state.draft.graph.steps).toEqual([step('a'), step('b')]);
  });
});

describe('saving', () => {
  test('follows a pause', async () => {
    const { store, server } = setUp(step('a'));
    store.change([{ type: 'add_step', step: step('b') }]);
    expect(server()).toHaveLength(1);
    await pause();
    expect(server()).toHaveLength(2);
    expect(store.state.saveState.kind).toBe('saved');
  });

  test('merges with changes that someone else saved, and undo keeps them', async () => {
    const { store, other, server, ids } = setUp(step('a'));
    other(step('a'), step('theirs', 'a'));
    store.change([{ type: 'add_step', step: step('mine', 'a') }]);
    await pause();
    expect(ids()).toEqual(['a', 'mine', 'theirs']);
    expect(server().map(({ id }) => id)).toEqual(ids());
    store.undo();
    await pause();
    expect(server().map(({ id }) => id)).toEqual(['a', 'theirs']);
  });

  test('asks if both sides changed the same part, and keeps both sides until then', async () => {
    const { store, other, server } = setUp(step('a'));
    other({ ...step('a'), name: 'Theirs', timeout_s: 5 });
    store.change([{ type: 'update_step', step: 'a', set: { name: 'Mine' } }]);
    await pause();
    expect(store.state.saveState.kind).toBe('conflict');
    expect(store.state.conflicts).toMatchObject([{ step: 'a', field: 'name', ours: 'Mine', theirs: 'Theirs' }]);
    expect(store.state.savedBy).toEqual([ADA]);
    expect(server()[0]?.name).toBe('Theirs');
    store.change([{ type: 'add_step', step: step('b') }]);
    await store.resolve(() => 'ours');
    expect(server()).toEqual([{ ...step('a'), name: 'Mine', timeout_s: 5 }, step('b')]);
    expect(store.state).toMatchObject({ saveState: { kind: 'saved' }, conflicts: [] });
  });

  test('a save that starts a merge resolves when the merge is saved', async () => {
    const { store, other, server } = setUp(step('a'));
    other(step('a'), step('theirs'));
    store.change([{ type: 'add_step', step: step('mine') }]);
    expect((await store.save()).kind).toBe('saved');
    expect(server()).toHaveLength(3);
  });

  test('keeps changes that others saved while the JSON was unfinished', async () => {
    const { store, other, server } = setUp(step('a'));
    store.change([{ type: 'add_step', step: step('mine') }]);
    other(step('a'), step('theirs'));
    const saving = store.save();
    store.typeText('{"steps": [');
    await saving;
    expect(store.state.saveState.kind).toBe('invalid');
    store.typeText(textOf(step('a'), step('mine'), step('more')));
    await store.save();
    expect(server().map(({ id }) => id)).toEqual(['a', 'mine', 'more', 'theirs']);
  });

  test('keeps JSON that becomes unfinished during a merge, and merges it once it parses', async () => {
    const { store, other, server, readAfter } = setUp(step('a'));
    const { promise, resolve } = Promise.withResolvers<void>();
    readAfter(promise);
    other(step('a'), step('theirs'));
    store.change([{ type: 'add_step', step: step('mine') }]);
    await pause();
    store.typeText('{"steps": [');
    resolve();
    await pause();
    expect(store.state).toMatchObject({ text: '{"steps": [', saveState: { kind: 'invalid' } });
    store.typeText(textOf(step('a'), step('mine'), step('more')));
    await pause();
    expect(server().map(({ id }) => id)).toEqual(['a', 'mine', 'more', 'theirs']);
  });

  test('tries again after a failure, automatically or on request', async () => {
    const { store, refusals, server } = setUp(step('a'));
    refusals.push(new Error('away'), new Error('away'));
    store.change([{ type: 'add_step', step: step('b') }]);
    await pause();
    expect(store.state.saveState.kind).toBe('failed');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(store.state.saveState.kind).toBe('saved');
    expect(server()).toHaveLength(2);
    refusals.push(new Error('away'));
    store.change([{ type: 'add_step', step: step('c') }]);
    await pause();
    expect((await store.save()).kind).toBe('saved');
    expect(server()).toHaveLength(3);
    refusals.push(new Error('away'));
    store.change([{ type: 'add_step', step: step('d') }]);
    await pause();
    // The page calls this when the browser is online again.
    store.retry();
    await vi.advanceTimersByTimeAsync(0);
    expect(server()).toHaveLength(4);
  });

  test('tries again if a merge could not read the stored draft', async () => {
    const { store, other, server, readAfter, readFails } = setUp(step('a'));
    other(step('a'), step('theirs'));
    readFails();
    store.change([{ type: 'add_step', step: step('mine') }]);
    await pause();
    expect(store.state.saveState).toMatchObject({ kind: 'failed', retryAt: expect.any(Number) });
    store.change([{ type: 'add_step', step: step('more') }]);
    expect(store.state.saveState.kind).toBe('failed');
    readAfter(Promise.resolve());
    await vi.advanceTimersByTimeAsync(1_200);
    expect(store.state.saveState.kind).toBe('saved');
    expect(
      server()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['a', 'mine', 'more', 'theirs']);
  });

  test('adopts a restored version, and undo returns to the previous draft', async () => {
    const { store, ids } = setUp(step('a'));
    store.take({ draft: draftOf(step('old')), etag: '1' });
    expect(ids()).toEqual(['old']);
    expect(store.dirty).toBe(false);
    store.undo();
    expect(ids()).toEqual(['a']);
  });
});

describe('changes that others saved', () => {
  test('are shown if nothing waits to be saved, and undo keeps them', async () => {
    const { store, other, ids, server } = setUp(step('a'));
    store.change([{ type: 'add_step', step: step('mine') }]);
    await pause();
    other(step('a'), step('mine'), step('theirs'));
    await store.pull();
    expect(ids()).toEqual(['a', 'mine', 'theirs']);
    expect(store.dirty).toBe(false);
    store.undo();
    await pause();
    expect(server().map(({ id }) => id)).toEqual(['a', 'theirs']);
  });

  test('wait until local edits are saved, including edits that are made during the read', async () => {
    const { store, other, ids, server, readAfter } = setUp(step('a'));
    other(step('a'), step('theirs'));
    store.change([{ type: 'add_step', step: step('mine') }]);
    await store.pull();
    expect(ids()).toEqual(['a', 'mine']);
    await pause();
    expect(ids()).toEqual(['a', 'mine', 'theirs']);

    const { promise, resolve } = Promise.withResolvers<void>();
    readAfter(promise);
    other(...server(), step('late'));
    const pulling = store.pull();
    store.change([{ type: 'add_step', step: step('more') }]);
    resolve();
    await pulling;
    expect(ids()).toEqual(['a', 'mine', 'theirs', 'more']);
    await pause();
    expect([...ids()].sort()).toEqual(['a', 'late', 'mine', 'more', 'theirs']);
  });
});

describe('changes that were never saved', () => {
  const base: Stored = { draft: draftOf(step('a')), etag: '1' };

  test('become one step of the history on top of changes saved since, and are saved', async () => {
    const { store, other, server, ids } = setUp(step('a'));
    other(step('a'), step('theirs'));
    await store.pull();
    expect(await store.restore(base, draftOf({ ...step('a'), name: 'Mine' }, step('b')), null)).toMatchObject({
      ok: true,
    });
    expect(ids()).toEqual(['a', 'b', 'theirs']);
    await pause();
    expect(server()).toHaveLength(3);
    expect(server()[0]?.name).toBe('Mine');
    store.undo();
    expect(ids()).toEqual(['a', 'theirs']);
  });

  test('ask which side to keep if others have changed the same part', async () => {
    const { store, other, server } = setUp(step('a'));
    other({ ...step('a'), name: 'Theirs' });
    await store.pull();
    await store.restore(base, draftOf({ ...step('a'), name: 'Mine' }), null);
    await pause();
    expect(store.state.saveState.kind).toBe('conflict');
    expect(store.state.conflicts).toHaveLength(1);
    expect(server()[0]?.name).toBe('Theirs');
    await store.resolve(() => 'ours');
    expect(server()[0]?.name).toBe('Mine');
  });

  test('do not replace later edits of this page', async () => {
    const { store, refusals, server } = setUp(step('a'));
    store.change([{ type: 'update_step', step: 'a', set: { name: 'Now' } }]);
    refusals.push(new Error('away'));
    expect((await store.restore(base, draftOf({ ...step('a'), name: 'Before' }), null)).ok).toBe(false);
    expect(store.state.draft.graph.steps[0]?.name).toBe('Now');
    expect((await store.restore(base, draftOf({ ...step('a'), name: 'Before' }), null)).ok).toBe(true);
    await pause();
    expect(store.state.conflicts).toHaveLength(1);
    expect(server()[0]?.name).toBe('Now');
  });

  test('may contain unfinished JSON', async () => {
    const { store, other, server } = setUp(step('a'));
    other(step('a'), step('theirs'));
    await store.pull();
    await store.restore(base, draftOf(step('a'), step('mine')), '{"steps": [');
    expect(store.state).toMatchObject({ text: '{"steps": [', saveState: { kind: 'invalid' } });
    expect((await store.restore(base, draftOf(step('b')), null)).ok).toBe(false);
    store.typeText(textOf(step('a'), step('mine'), step('more')));
    await pause();
    expect(
      server()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['a', 'mine', 'more', 'theirs']);
  });
});
