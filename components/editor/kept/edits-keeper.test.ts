import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Draft, Step } from '../../../server/domains/workflows/edits/index.ts';
import { leaveSession } from '../../trpc/session-gate.ts';
import type { SaveOutcome } from '../draft-saver.ts';
import { EditorStore } from '../editor-store.ts';
import { EditsKeeper, KEEP_AFTER_MS } from './edits-keeper.ts';
import { type EditStorage, EditsInBrowser } from './kept-edits.ts';

const step = (id: string): Step => ({ id, type: 'lua_script', script: 'return 1' });
const draftOf = (...steps: Step[]): Draft => ({ name: 'n', description: '', graph: { steps }, run_setup: {} });

/** An editor whose saves the test controls, and a browser that keeps the edits. */
function setUp() {
  const texts = new Map<string, string>();
  let writes = 0;
  let isFull = false;
  const storage: EditStorage = {
    get length() {
      return texts.size;
    },
    key: at => [...texts.keys()][at] ?? null,
    getItem: key => texts.get(key) ?? null,
    setItem: (key, text) => {
      if (isFull) throw new DOMException('full', 'QuotaExceededError');
      writes += 1;
      texts.set(key, text);
    },
    removeItem: key => void texts.delete(key),
  };
  let outcome: SaveOutcome = { kind: 'failed', error: new TypeError('Failed to fetch') };
  const store = new EditorStore({
    draft: draftOf(step('a')),
    etag: '1',
    save: async () => outcome,
    read: async () => ({ draft: draftOf(step('a')), etag: '1' }),
    delayMs: 800,
  });
  const edits = new EditsInBrowser(() => storage);
  const fields: [string, string][] = [];
  const onRefused = vi.fn();
  const keeper = new EditsKeeper({ user: 'ada', workflowId: 'w', store, fields: () => fields, edits, onRefused });
  return {
    store,
    keeper,
    fields,
    onRefused,
    kept: () => edits.list('ada', 'w'),
    ids: () => edits.list('ada', 'w')[0]?.graph.steps.map(({ id }) => id),
    writes: () => writes,
    setOutcome: (next: SaveOutcome) => {
      outcome = next;
    },
    setFull: (full: boolean) => {
      isFull = full;
    },
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  leaveSession('no');
  vi.useRealTimers();
});
const add = (store: EditorStore, id: string) => store.change([{ type: 'add_step', step: step(id) }]);

describe('unsaved edits', () => {
  test('are kept shortly after each edit, not only when typing pauses, and removed once they are saved', async () => {
    const { store, ids, kept, setOutcome } = setUp();
    for (const id of ['b', 'c', 'd', 'e']) {
      add(store, id);
      await vi.advanceTimersByTimeAsync(KEEP_AFTER_MS / 2);
    }
    expect(ids()?.slice(0, 3)).toEqual(['a', 'b', 'c']);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(store.state.saveState.kind).toBe('failed');
    expect(ids()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(kept()[0]?.base).toEqual({ etag: '1', graph: { steps: [step('a')] } });
    setOutcome({ kind: 'saved', etag: '2' });
    await store.save();
    expect(kept()).toEqual([]);
  });

  test('are not written again while only retries happen', async () => {
    const { store, writes } = setUp();
    add(store, 'b');
    await vi.advanceTimersByTimeAsync(KEEP_AFTER_MS);
    expect(writes()).toBe(1);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(writes()).toBe(1);
  });

  test('are kept at once when the page is left, with JSON and fields that do not parse', () => {
    const { store, keeper, kept, fields } = setUp();
    store.typeText('{"steps": [');
    fields.push(['a.form', '{"type":']);
    keeper.flush();
    expect(kept()).toMatchObject([{ text: '{"steps": [', fields: [['a.form', '{"type":']] }]);
    store.discardText();
    fields.length = 0;
    keeper.flush();
    expect(kept()).toEqual([]);
  });

  test('keep the old base during a second save, and use the new base after it', async () => {
    const { store, kept, setOutcome } = setUp();
    add(store, 'b');
    setOutcome({ kind: 'saved', etag: '2' });
    await store.save();
    setOutcome({ kind: 'failed', error: new TypeError('Failed to fetch') });
    add(store, 'c');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(kept()[0]?.base).toEqual({ etag: '2', graph: { steps: [step('a'), step('b')] } });
  });

  test('are reported once if they can be neither saved nor kept', async () => {
    const { store, keeper, kept, onRefused, setFull } = setUp();
    setFull(true);
    add(store, 'b');
    keeper.flush();
    expect(onRefused).not.toHaveBeenCalled();
    await store.save();
    add(store, 'c');
    keeper.flush();
    add(store, 'd');
    keeper.flush();
    expect(onRefused).toHaveBeenCalledOnce();
    expect(kept()).toEqual([]);
    setFull(false);
    add(store, 'e');
    keeper.flush();
    expect(kept()).toHaveLength(1);
  });

  test('are not kept again after a user has signed out and removed them', () => {
    const { store, keeper, kept } = setUp();
    add(store, 'b');
    leaveSession('forgets');
    keeper.flush();
    expect(kept()).toEqual([]);
    leaveSession('keeps');
    keeper.flush();
    expect(kept()).toHaveLength(1);
  });
});
