import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { branchLabel, edgesOf, innerStepsOf, layout, layoutByRank, nodeSize, takesLong } from './layout.ts';

type Step = { id: string; type: string; depends_on: string[] };

describe('the drawing of a graph', () => {
  it('counts the steps of a loop, including those of nested loops', () => {
    const step = { id: 'a', type: 'lua_script' };
    expect(innerStepsOf(step)).toBe(null);
    expect(innerStepsOf({ id: 'l', type: 'for_each' })).toBe(0);
    const inner = { id: 'm', type: 'for_each', steps: [step, null, 'a'] };
    expect(innerStepsOf({ id: 'l', type: 'for_each', steps: [step, inner] })).toBe(5);
  });

  it('recognizes graphs whose layout takes dagre longer than a frame', () => {
    const steps = (count: number, fields: object = {}) =>
      Array.from({ length: count }, (_, at) => ({ id: `s${at}`, type: 'lua_script', ...fields }));
    expect([50, 51, 300, 301].map(count => takesLong(steps(count)))).toEqual([false, true, true, false]);
    const position = { x: 0, y: 0 };
    expect(takesLong(steps(51, { position }))).toBe(false);
    expect(takesLong([...steps(51, { position }), { id: 'new', type: 'lua_script' }])).toBe(true);
  });

  it('labels the edges of a condition with their branch', () => {
    const edges = edgesOf([
      { id: 'c', type: 'condition', then: ['x'], else: ['y'] },
      { id: 'x', type: 'lua_script', depends_on: ['c'] },
      { id: 'y', type: 'lua_script', depends_on: ['c'] },
      { id: 'z', type: 'lua_script', depends_on: ['x', 'y', 'nowhere', 'z'] },
    ]);
    expect(edges.map(edge => [edge.from, edge.to, edge.branch])).toEqual([
      ['c', 'x', 'then'],
      ['c', 'y', 'else'],
      ['x', 'z', null],
      ['y', 'z', null],
    ]);
    expect(edges.map(branchLabel)).toEqual(['then', 'else', undefined, undefined]);
  });

  it('draws one edge to a step in both branches, with both labels', () => {
    const edges = edgesOf([
      { id: 'c', type: 'condition', then: ['x', 'y'], else: ['x'] },
      { id: 'x', type: 'lua_script', depends_on: ['c', 'y'] },
      { id: 'y', type: 'lua_script', depends_on: ['c'] },
    ]);
    expect(edges.map(edge => [edge.id, edge.branch, branchLabel(edge)])).toEqual([
      ['c→x', 'both', 'then, else'],
      ['y→x', null, undefined],
      ['c→y', 'then', 'then'],
    ]);
  });

  it('draws parallel steps from left to right in the order of the graph', () => {
    const step = (id: string, ...depends_on: string[]): Step => ({ id, type: 't', depends_on });
    const steps = [step('s'), ...['a', 'b', 'c', 'd', 'e'].map(id => step(id, 's')), step('f', 'a'), step('g', 'b')];
    const places = layout(steps, edgesOf(steps));
    const across = (...ids: string[]) => ids.map(id => places.get(id)?.x ?? 0);
    for (const row of [across('a', 'b', 'c', 'd', 'e'), across('f', 'g')]) {
      expect(row).toEqual(row.toSorted((a, b) => a - b));
    }
  });

  it('draws the branch then to the left of else, in any order of the steps', () => {
    const condition = { id: 'c', type: 'condition', then: ['x', 'x2'], else: ['y'] };
    const [x, x2, y] = ['x', 'x2', 'y'].map(id => ({ id, type: 't', depends_on: ['c'] })) as [Step, Step, Step];
    const after = { id: 'z', type: 't', depends_on: ['y'] };
    for (const steps of [
      [condition, x, x2, y, after],
      [condition, y, after, x2, x],
      [after, y, condition, x, x2],
    ]) {
      const places = layout(steps, edgesOf(steps));
      const left = (id: string) => places.get(id)?.x ?? Number.NaN;
      expect(Math.max(left('x'), left('x2'))).toBeLessThan(left('y'));
    }
  });

  it('keeps positions only if every step has one', () => {
    const placed = { id: 'a', type: 't', position: { x: 5, y: 7 } };
    expect(layout([placed], []).get('a')).toEqual({ x: 5, y: 7 });
    const mixed = [placed, { id: 'b', type: 't', depends_on: ['a'], position: { x: 'no' } }];
    expect(layout(mixed, edgesOf(mixed)).get('a')).not.toEqual({ x: 5, y: 7 });
  });

  it('never draws steps on top of each other, and draws them below their dependencies', () => {
    const graphs = fc.integer({ min: 1, max: 25 }).chain(size =>
      fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: size, maxLength: size }).map(picks =>
        picks.map((each, index) => ({
          id: `s${index}`,
          type: 't',
          depends_on: index === 0 ? [] : each.map(pick => `s${pick % index}`),
          then: picks.flatMap((other, at) => (at > index && other[0] === index ? [`s${at}`] : [])),
          else: picks.flatMap((other, at) => (at > index && other[1] === index ? [`s${at}`] : [])),
        })),
      ),
    );
    fc.assert(
      fc.property(graphs, fc.boolean(), (steps, byRank) => {
        const edges = edgesOf(steps);
        const places = byRank ? layoutByRank(steps, edges) : layout(steps, edges);
        for (const edge of edges)
          expect(places.get(edge.to)?.y).toBeGreaterThan(places.get(edge.from)?.y ?? Number.POSITIVE_INFINITY);
        const all = [...places.values()];
        expect(all).toHaveLength(steps.length);
        for (const [index, one] of all.entries()) {
          for (const other of all.slice(index + 1)) {
            const isApart = Math.abs(one.x - other.x) >= nodeSize.width || Math.abs(one.y - other.y) >= nodeSize.height;
            expect(isApart).toBe(true);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('terminates for a graph with a cycle', () => {
    const steps = [
      { id: 'a', type: 't', depends_on: ['b'] },
      { id: 'b', type: 't', depends_on: ['a'] },
    ];
    expect(layout(steps, edgesOf(steps)).size).toBe(2);
    expect(layoutByRank(steps, edgesOf(steps)).size).toBe(2);
  });
});
