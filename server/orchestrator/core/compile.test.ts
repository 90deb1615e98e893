import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile, type GraphStep } from './index.ts';

const x = (id: string, ...depends_on: string[]): GraphStep => ({ id, type: 'x', depends_on });
const compileSteps = (...steps: GraphStep[]) => compile({ steps });

describe('compile', () => {
  test('orders dependencies before dependents, otherwise as published', () => {
    expect(compileSteps(x('d', 'b', 'c'), x('b', 'a'), x('c', 'a'), x('a'), x('e')).order).toEqual([
      'a',
      'e',
      'b',
      'c',
      'd',
    ]);
  });

  test('links both ways, each dependency once', () => {
    const graph = compileSteps(x('a'), x('b', 'a', 'a'), { id: 'c', type: 'x' });
    expect(graph.steps.get('b')?.dependencies).toEqual(['a']);
    expect(graph.steps.get('a')?.dependents).toEqual(['b']);
    expect(graph.steps.get('c')).toMatchObject({ index: 2, dependencies: [], dependents: [] });
  });

  test.each([
    ['a duplicate id', [x('a'), x('a')], /"a" is used twice/],
    ['an unknown dependency', [x('a', 'b')], /"a" depends on "b"/],
    ['a cycle', [x('a'), x('b', 'a', 'c'), x('c', 'b')], /cycle through "b", "c"/],
    ['a step that depends on itself', [x('a', 'a')], /cycle through "a"/],
  ])('throws on %s', (_name, steps, message) => {
    expect(() => compileSteps(...steps)).toThrow(message);
  });
});

describe('timing fields', () => {
  const a = (fields: object) => compileSteps({ id: 'a', type: 'x', ...fields }).steps.get('a');

  test.each([
    ['x', undefined],
    [{}, undefined],
    [null, undefined],
    [Number.NaN, undefined],
    [-1, undefined],
    [0.5, undefined],
    [1, 1],
    [86_400, 86_400],
    [86_400.5, 86_400],
    [7e12, 86_400],
    [1e308, 86_400],
    [Number.POSITIVE_INFINITY, 86_400],
  ])('timeout_s %s is %s', (timeout_s, expected) => expect(a({ timeout_s })?.spec.timeout_s).toBe(expected));

  test.each([
    ['x', 0],
    [{}, 0],
    [Number.NaN, 0],
    [-1, 0],
    [2.9, 2],
    [10, 10],
    [11, 10],
    [1e9, 10],
  ])('retry_count %s is %s', (retry_count, expected) => expect(a({ retry_count })?.retryCount).toBe(expected));

  test.each([
    ['x', 1_000],
    [Number.NaN, 1_000],
    [-1, 1_000],
    [0, 0],
    [0.5, 500],
    [60, 60_000],
    [61, 60_000],
    [1e308, 60_000],
  ])('retry_delay_s %s is %s ms', (retry_delay_s, expected) =>
    expect(a({ retry_delay_s })?.retryDelayMs).toBe(expected),
  );

  test('a step with a valid time limit is not copied', () => {
    const step = { id: 'a', type: 'x', timeout_s: 5 };
    expect(compileSteps(step).steps.get('a')?.spec).toBe(step);
  });
});

describe('ancestors', () => {
  test('are all earlier steps on any path, without the step itself', () => {
    const graph = compileSteps(x('a'), x('b', 'a'), x('c', 'b'), x('d'), x('e', 'c', 'd'));
    const ancestors = graph.ancestors('e');
    expect([...ancestors].sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(ancestors.size).toBe(4);
    expect(ancestors.has('a')).toBe(true);
    expect(ancestors.has('e')).toBe(false);
    expect(ancestors.has('nowhere')).toBe(false);
    expect(graph.ancestors('d').size).toBe(0);
    expect([...graph.ancestors('c').entries()]).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
    const visited: string[] = [];
    graph.ancestors('c').forEach(id => {
      visited.push(id);
    });
    expect(visited).toEqual([...graph.ancestors('c').keys()]);
  });

  test('of a long chain, beyond one machine word', () => {
    const ids = Array.from({ length: 2000 }, (_, index) => `s${index}`);
    const graph = compileSteps(...ids.map((id, index) => x(id, ...ids.slice(Math.max(0, index - 1), index))));
    for (const at of [0, 1, 31, 32, 33, 63, 64, 1999]) expect([...graph.ancestors(`s${at}`)]).toEqual(ids.slice(0, at));
  });

  test('of an unknown step are a defect', () => {
    expect(() => compileSteps(x('a')).ancestors('b')).toThrow('"b"');
  });

  test('are the transitive dependencies, for any graph', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat({ max: 60 }), { maxLength: 4 }), { maxLength: 70 }), picks => {
        const before = picks.map((pick, index) => pick.filter(other => other < index).map(other => `s${other}`));
        const graph = compileSteps(...before.map((ids, index) => x(`s${index}`, ...ids)).reverse());
        const closure = new Map<string, Set<string>>();
        for (const [index, ids] of before.entries()) {
          closure.set(`s${index}`, new Set(ids.flatMap(id => [id, ...(closure.get(id) ?? [])])));
        }
        for (const [id, expected] of closure) {
          expect(new Set(graph.ancestors(id))).toEqual(expected);
          for (const ancestor of expected) expect(graph.order.indexOf(ancestor)).toBeLessThan(graph.order.indexOf(id));
        }
      }),
      { numRuns: 60, seed: 1 },
    );
  });
});
