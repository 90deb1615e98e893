import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boxAround, headInsets, makeRoom } from './containers.ts';
import { nodeSize, type Point, ROW_GAP } from './layout.ts';

const row = nodeSize.height + ROW_GAP;
const column = nodeSize.width + 32;

describe('makeRoom', () => {
  test('returns unchanged places while no loop is open', () => {
    const places = new Map([['a', { x: 0, y: 0 }]]);
    expect(makeRoom(places, new Map())).toBe(places);
  });

  test('moves steps down for each open loop above them', () => {
    const places = new Map([
      ['first', { x: 0, y: 0 }],
      ['loop', { x: 0, y: row }],
      ['other', { x: 0, y: 2 * row }],
      ['last', { x: 0, y: 3 * row }],
    ]);
    const size = { width: nodeSize.width, height: nodeSize.height + 100 };
    const drawn = makeRoom(places, new Map([['loop', size]]));
    expect(drawn.get('first')).toEqual({ x: 0, y: 0 });
    expect(drawn.get('loop')).toEqual({ x: 0, y: row });
    expect(drawn.get('last')?.y).toBe(3 * row + 100);
    const both = makeRoom(
      places,
      new Map([
        ['loop', size],
        ['other', size],
      ]),
    );
    expect(both.get('other')?.y).toBe(2 * row + 100);
    expect(both.get('last')?.y).toBe(3 * row + 200);
  });

  test('keeps the middle of an open loop where it was, and moves its neighbors aside', () => {
    const places = new Map([
      ['left', { x: -column, y: 0 }],
      ['loop', { x: 0, y: 0 }],
      ['right', { x: column, y: 0 }],
    ]);
    const drawn = makeRoom(places, new Map([['loop', { width: nodeSize.width + 80, height: 300 }]]));
    expect(drawn.get('loop')).toEqual({ x: -40, y: 0 });
    expect(drawn.get('left')).toEqual({ x: -column - 40, y: 0 });
    expect(drawn.get('right')).toEqual({ x: column + 40, y: 0 });
  });

  test('never lets two steps of a grid overlap', () => {
    const sizes = fc.record({ width: fc.integer({ min: 220, max: 900 }), height: fc.integer({ min: 56, max: 900 }) });
    const cells = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 })), {
      selector: ([x, y]) => `${x} ${y}`,
      minLength: 1,
    });
    fc.assert(
      fc.property(cells, fc.array(fc.option(sizes, { nil: null }), { minLength: 25, maxLength: 25 }), (at, open) => {
        const places = new Map(at.map(([x, y], n): [string, Point] => [`s${n}`, { x: x * column, y: y * row }]));
        const loops = new Map(at.flatMap((_, n) => (open[n] ? [[`s${n}` as string, open[n]] as const] : [])));
        const drawn = [...makeRoom(places, loops)].map(([id, p]) => ({ ...p, ...(loops.get(id) ?? nodeSize) }));
        for (const [n, a] of drawn.entries())
          for (const b of drawn.slice(n + 1)) {
            const isApart =
              a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
            expect(isApart).toBe(true);
          }
      }),
    );
  });
});

test('boxAround includes open loops', () => {
  const drawn = new Map([
    ['a', { x: 10, y: 20 }],
    ['b', { x: 10, y: 200 }],
  ]);
  const box = boxAround(drawn, new Map([['b', { width: 400, height: 300 }]]));
  expect(box).toEqual({ x: 10, y: 20, width: 400, height: 480 });
  expect(boxAround(new Map(), new Map())).toBeNull();
});

test('the header of a loop that is partly outside of the view moves into the view, and is at least as wide as a step', () => {
  const view = (x: number, zoom = 1) => ({ x, y: 0, zoom, width: 400 });
  const loop = { x: 0, width: 600 };
  expect(headInsets(loop, view(0))).toEqual({ left: 0, right: 200 });
  expect(headInsets(loop, view(-150))).toEqual({ left: 150, right: 50 });
  expect(headInsets(loop, view(0, 0.5))).toEqual({ left: 0, right: 0 });
  // Almost out of view at the left, and at the right.
  expect(headInsets(loop, view(-590))).toEqual({ left: 600 - nodeSize.width, right: 0 });
  expect(headInsets(loop, view(390))).toEqual({ left: 0, right: 600 - nodeSize.width });
  expect(headInsets(loop, { ...view(0), width: 0 })).toEqual({ left: 0, right: 0 });
});
