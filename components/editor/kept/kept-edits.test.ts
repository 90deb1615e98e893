import { beforeEach, describe, expect, test } from 'vitest';
import type { DraftGraph } from '../graph-text.ts';
import { type EditStorage, EditsInBrowser, MAX_AGE_MS, MAX_CHARACTERS, newKey } from './kept-edits.ts';

/** localStorage in memory. `room` is its capacity in characters; 0 refuses every write. */
class MemoryStorage implements EditStorage {
  readonly texts = new Map<string, string>();
  room = Number.POSITIVE_INFINITY;
  get length() {
    return this.texts.size;
  }
  key(at: number) {
    return [...this.texts.keys()][at] ?? null;
  }
  getItem(key: string) {
    return this.texts.get(key) ?? null;
  }
  setItem(key: string, text: string) {
    if (text.length > this.room) throw new DOMException('full', 'QuotaExceededError');
    this.texts.set(key, text);
  }
  removeItem(key: string) {
    this.texts.delete(key);
  }
}

let storage = new MemoryStorage();
let now = 1_000;
const edits = new EditsInBrowser(
  () => storage,
  () => now,
);
beforeEach(() => {
  storage = new MemoryStorage();
  now = 1_000;
});

const graphOf = (...ids: string[]): DraftGraph => ({ steps: ids.map(id => ({ id, type: 'lua_script' })) });
const base = JSON.stringify({ etag: '"1"', graph: graphOf('a') });
const keepEdits = (key: string, ...ids: string[]) =>
  edits.keep(key, { base, graph: graphOf(...ids), text: null, fields: [['a.form', '{"type":']] });

describe('edits in the browser', () => {
  test('are read as they were kept, latest first, and removed one by one', () => {
    const [one, other] = [newKey('ada', 'w1'), newKey('ada', 'w1')];
    expect(keepEdits(one, 'a', 'b')).toBe(true);
    now = 2_000;
    expect(keepEdits(other, 'a', 'c')).toBe(true);
    expect(edits.list('ada', 'w1')).toEqual([
      {
        key: other,
        at: 2_000,
        base: { etag: '"1"', graph: graphOf('a') },
        graph: graphOf('a', 'c'),
        text: null,
        fields: [['a.form', '{"type":']],
      },
      expect.objectContaining({ key: one, at: 1_000, graph: graphOf('a', 'b') }),
    ]);
    const text = edits.forget(other);
    expect(edits.list('ada', 'w1').map(({ key }) => key)).toEqual([one]);
    edits.putBack(other, text ?? '');
    expect(edits.list('ada', 'w1')).toHaveLength(2);
  });

  test('keep integers of 64 bits', () => {
    const key = newKey('ada', 'w1');
    const graph = { steps: [{ id: 'a', type: 'wait', seconds: 9_007_199_254_740_993n }] } as unknown as DraftGraph;
    edits.keep(key, { base, graph, text: null, fields: [] });
    expect(edits.list('ada', 'w1')[0]?.graph).toEqual(graph);
  });

  test('belong to one user and one workflow', () => {
    keepEdits(newKey('ada', 'w1'), 'a');
    keepEdits(newKey('ada', 'w2'), 'a');
    keepEdits(newKey('bob', 'w1'), 'a');
    keepEdits(newKey('ada2', 'w1'), 'a');
    expect(edits.list('ada', 'w1')).toHaveLength(1);
    expect(edits.countWorkflows('ada')).toBe(2);
    expect(edits.list('eve', 'w1')).toEqual([]);
    edits.forgetAll('ada');
    expect(edits.countWorkflows('ada')).toBe(0);
    expect(edits.countWorkflows('bob')).toBe(1);
    expect(edits.countWorkflows('ada2')).toBe(1);
  });

  test('are removed after a month for all users, as are invalid entries', () => {
    keepEdits(newKey('bob', 'w1'), 'a');
    for (const text of ['', '{', 'null', '{"at":1}', '{"at":1,"base":{},"graph":{"steps":7},"text":null,"fields":[]}'])
      storage.texts.set(newKey('ada', 'w1'), text);
    expect(edits.list('ada', 'w1')).toEqual([]);
    expect(storage.length).toBe(1);
    now += MAX_AGE_MS;
    expect(edits.list('bob', 'w1')).toEqual([]);
    expect(storage.length).toBe(0);
  });

  test('do not displace edits of other tabs if storage is full, nor leave older edits as the latest', () => {
    const other = newKey('ada', 'w1');
    const own = newKey('ada', 'w1');
    keepEdits(other, 'a');
    keepEdits(own, 'a');
    storage.room = 10;
    expect(keepEdits(own, 'a', 'b')).toBe(false);
    expect(edits.list('ada', 'w1').map(({ key }) => key)).toEqual([other]);
    storage.room = Number.POSITIVE_INFINITY;
    const huge = { base, graph: graphOf('a'), text: 'x'.repeat(MAX_CHARACTERS), fields: [] };
    expect(edits.keep(own, huge)).toBe(false);
    for (let n = 0; n < 39; n += 1) expect(keepEdits(newKey('ada', `w${n}`), 'a')).toBe(true);
    expect(keepEdits(own, 'a')).toBe(false);
    // An existing entry can be updated, and expired entries are removed to make room.
    expect(keepEdits(other, 'a', 'b')).toBe(true);
    now += MAX_AGE_MS;
    expect(keepEdits(own, 'a')).toBe(true);
  });

  test('are not kept in a browser that refuses storage', () => {
    const refusing = new EditsInBrowser(() => {
      throw new DOMException('denied', 'SecurityError');
    });
    expect(refusing.keep(newKey('ada', 'w1'), { base, graph: graphOf('a'), text: null, fields: [] })).toBe(false);
    expect(refusing.list('ada', 'w1')).toEqual([]);
    expect(refusing.countWorkflows('ada')).toBe(0);
    expect(refusing.forget('x')).toBeNull();
    refusing.putBack('x', '');
    refusing.forgetAll('ada');
  });
});
