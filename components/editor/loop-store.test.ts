import { expect, test } from 'vitest';
import type { Json, Step } from '../../server/domains/workflows/edits/index.ts';
import { stepsOfLoop } from '../graph/loop-steps.ts';
import { EditorStore, type Stored } from './editor-store.ts';
import { LoopStore, stepsAt } from './loop-store.ts';

const lua = (id: string): Step => ({ id, type: 'lua_script', script: 'return 1' });
const loop = (id: string, ...steps: Step[]): Step => ({ id, type: 'for_each', items: '[1]', steps: steps as Json });

function setUp(...steps: Step[]) {
  const stored: Stored = { draft: { name: 'n', description: '', graph: { steps }, run_setup: {} }, etag: '1' };
  const save = async () => ({ kind: 'saved', etag: '1' }) as const;
  // A long delay, so that nothing is saved during the test.
  return new EditorStore({ ...stored, save, read: async () => stored, delayMs: 2 ** 30 });
}
const idsOf = (store: Pick<EditorStore, 'state'>) => store.state.draft.graph.steps.map(({ id }) => id);

test('the steps of a loop are edited through the history of the draft', () => {
  const store = setUp(lua('a'), loop('each', lua('x')));
  const inner = new LoopStore(store, ['each']);
  expect(inner.change([{ type: 'add_step', step: lua('y') }])).toEqual({ ok: true, unrewritten: [] });
  inner.change([{ type: 'connect', from: 'x', to: 'y' }]);
  expect(store.state.draft.graph.steps).toEqual([lua('a'), loop('each', lua('x'), { ...lua('y'), depends_on: ['x'] })]);
  expect(inner.change([{ type: 'connect', from: 'y', to: 'x' }])).toMatchObject({ ok: false });
  inner.undo();
  inner.undo();
  expect(store.state.draft.graph.steps).toEqual([lua('a'), loop('each', lua('x'))]);
  store.redo();
  expect(idsOf(inner)).toEqual(['x', 'y']);
});

test('a loop in a loop is edited in its place', () => {
  const store = setUp(loop('each', lua('x'), loop('inner', lua('z'))));
  const inner = new LoopStore(store, ['each', 'inner']);
  inner.change([{ type: 'update_step', step: 'z', set: { script: 'return 2' } }]);
  expect(store.state.draft.graph.steps).toEqual([
    loop('each', lua('x'), loop('inner', { ...lua('z'), script: 'return 2' })),
  ]);
  expect(new Set(inner.reservedIds)).toEqual(new Set(['each', 'x', 'inner', 'z']));
});

test('a step in a loop cannot get the id of a step outside that would hide it', () => {
  const store = setUp(lua('a'), loop('each', lua('x'), loop('inner', lua('z'))), loop('other', lua('o')));
  const each = new LoopStore(store, ['each']);
  const inner = new LoopStore(store, ['each', 'inner']);
  const refused = (id: string) => ({ ok: false, message: `There is a step "${id}" outside the loop already.` });
  expect(each.change([{ type: 'rename_step', step: 'x', to: 'a' }])).toEqual(refused('a'));
  expect(each.change([{ type: 'rename_step', step: 'x', to: 'each' }])).toEqual(refused('each'));
  expect(each.change([{ type: 'rename_step', step: 'x', to: 'z' }])).toMatchObject({ ok: false });
  expect(inner.change([{ type: 'rename_step', step: 'z', to: 'x' }])).toEqual(refused('x'));
  expect(inner.change([{ type: 'add_step', step: lua('a') }])).toEqual(refused('a'));
  expect(inner.change([{ type: 'rename_step', step: 'z', to: 'o' }])).toMatchObject({ ok: true });
});

test('the state is the same object until the steps change, and has no steps without the loop', () => {
  const store = setUp(lua('a'), loop('each', lua('x')));
  const inner = new LoopStore(store, ['each']);
  const { state } = inner;
  expect(inner.state).toBe(state);
  store.change([{ type: 'update_step', step: 'a', set: { name: 'A' } }]);
  expect(inner.state.draft).toBe(state.draft);
  store.change([{ type: 'remove_step', step: 'each' }]);
  expect(idsOf(inner)).toEqual([]);
  expect(inner.change([{ type: 'add_step', step: lua('y') }])).toMatchObject({ ok: false });
});

test('a loop whose steps are not a list shows no steps', () => {
  expect(stepsOfLoop({ id: 'l', type: 'for_each', steps: [lua('a'), 1] as Json })).toBeNull();
  expect(stepsOfLoop({ id: 'l', type: 'for_each' })).toBeNull();
  expect(stepsOfLoop(lua('a'))).toBeNull();
  expect(stepsAt([lua('a')], ['a'])).toBeNull();
  expect(stepsAt([lua('a')], [])).toHaveLength(1);
});
