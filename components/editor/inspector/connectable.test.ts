import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply, type Draft } from '../../../server/domains/workflows/edits/index.ts';
import { edgesOf } from '../../graph/layout.ts';
import { unconnectable } from './connectable.ts';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Each step depends only on steps earlier in the list, so that the graph has no cycle. */
const drafts = fc.array(fc.subarray(IDS), { minLength: IDS.length, maxLength: IDS.length }).map(
  (wanted): Draft => ({
    name: 'Draft',
    description: '',
    run_setup: {},
    graph: {
      steps: IDS.map((id, at) => ({
        id,
        type: 'lua_script',
        depends_on: (wanted[at] ?? []).filter(each => IDS.indexOf(each) < at),
      })),
    },
  }),
);

test('excludes exactly the steps whose connection would be refused or already exists', () => {
  fc.assert(
    fc.property(drafts, fc.constantFrom(...IDS), fc.constantFrom('from', 'to'), (draft, step, far) => {
      const edges = edgesOf(draft.graph.steps);
      const expected = IDS.filter(id => {
        const [from, to] = far === 'from' ? [id, step] : [step, id];
        const isConnected = edges.some(edge => edge.from === from && edge.to === to);
        return isConnected || !apply(draft, { type: 'connect', from, to }).ok;
      });
      expect([...unconnectable(edges, step, far)].sort()).toEqual(expected);
    }),
  );
});

test('walks a draft with a cycle only once', () => {
  const edges = [
    { id: 'a→b', from: 'a', to: 'b', branch: null },
    { id: 'b→a', from: 'b', to: 'a', branch: null },
  ];
  expect([...unconnectable(edges, 'a', 'to')].sort()).toEqual(['a', 'b']);
});
