import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeSize } from '../../graph/layout.ts';
import { type Alignment, align } from './align.ts';

const places = new Map([
  ['a', { x: 0, y: 10 }],
  ['b', { x: 300, y: 200 }],
  ['c', { x: 100, y: 700 }],
]);

test.each<[Alignment, [number, number][]]>([
  [
    'left',
    [
      [0, 10],
      [0, 200],
      [0, 700],
    ],
  ],
  [
    'center',
    [
      [150, 10],
      [150, 200],
      [150, 700],
    ],
  ],
  [
    'right',
    [
      [300, 10],
      [300, 200],
      [300, 700],
    ],
  ],
  [
    'top',
    [
      [0, 10],
      [300, 10],
      [100, 10],
    ],
  ],
  [
    'middle',
    [
      [0, 355],
      [300, 355],
      [100, 355],
    ],
  ],
  [
    'bottom',
    [
      [0, 700],
      [300, 700],
      [100, 700],
    ],
  ],
  [
    'down',
    [
      [0, 10],
      [300, 355],
      [100, 700],
    ],
  ],
])('%s', (alignment, expected) => {
  const after = align(places, alignment);
  expect(['a', 'b', 'c'].map(id => [after.get(id)?.x, after.get(id)?.y])).toEqual(expected);
});

test('distributed steps keep their order and never overlap', () => {
  const at = fc.record({ x: fc.integer({ min: -5_000, max: 5_000 }), y: fc.integer({ min: -5_000, max: 5_000 }) });
  fc.assert(
    fc.property(fc.array(at, { minLength: 3, maxLength: 9 }), points => {
      const after = align(new Map(points.map((point, n) => [`s${n}`, point])), 'across');
      const xs = [...after.values()].map(({ x }) => x);
      for (const [n, x] of xs.entries()) if (n > 0) expect(x - (xs[n - 1] ?? 0)).toBeGreaterThanOrEqual(nodeSize.width);
      expect(Math.min(...xs)).toBe(Math.min(...points.map(({ x }) => x)));
    }),
  );
});

test('does not move a single step, and does not distribute two steps', () => {
  const two = new Map([...places].slice(0, 2));
  expect(align(two, 'across')).toBe(two);
  expect(align(new Map([...places].slice(0, 1)), 'left').get('a')).toEqual({ x: 0, y: 10 });
});
