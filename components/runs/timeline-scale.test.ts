import { expect, test } from 'vitest';
import { scaleOf } from './timeline-model.ts';
import {
  clampZoom,
  fitLabels,
  formatTick,
  labelPlace,
  moveBy,
  readZoom,
  ticksOf,
  WHOLE,
  writeZoom,
  zoomBy,
  zoomed,
} from './timeline-scale.ts';

const ticks = (span: { from: number; to: number }, gaps: { from: number; to: number }[], width: number, zoom = WHOLE) =>
  ticksOf({ span, gaps, place: zoomed(scaleOf(span, gaps), zoom), width }, formatTick);
const texts = (found: ReturnType<typeof ticks>) => found.map(({ text }) => text);

test('ticks have round distances, and their number depends on the space', () => {
  expect(texts(ticks({ from: 1_000, to: 11_000 }, [], 500))).toEqual(['0', '2 s', '4 s', '6 s', '8 s', '10 s']);
  expect(texts(ticks({ from: 0, to: 47 }, [], 300))).toEqual(['0', '20 ms', '40 ms']);
  expect(texts(ticks({ from: 0, to: 5 * 3_600_000 }, [], 400))).toEqual(['0', '1 h', '2 h', '3 h', '4 h', '5 h']);
  expect(ticks({ from: 0, to: 1_000 }, [], 0)).toEqual([]);
});

test('zooming shows only visible ticks, closer in time', () => {
  const found = ticks({ from: 0, to: 100_000 }, [], 500, { from: 0.5, to: 0.6 });
  expect(texts(found)).toEqual(['50 s', '52 s', '54 s', '56 s', '58 s', '1 min']);
  for (const { x } of found) expect(x >= 0 && x <= 500).toBe(true);
});

test('a folded gap has no ticks, even if it is long', () => {
  const day = 86_400_000;
  const gap = { from: 1_000, to: 300 * day };
  const found = ticks({ from: 0, to: 300 * day + 1_000 }, [gap], 600);
  expect(found.length).toBeGreaterThan(2);
  expect(found.length).toBeLessThan(20);
  for (const { at } of found) expect(at <= gap.from || at >= gap.to).toBe(true);
});

test('labels neither overlap nor exceed the width; earlier labels have precedence', () => {
  const wanted = [0, 40, 100, 240, 250].map(center => ({ key: String(center), text: 'a label', center }));
  const labels = fitLabels(wanted, 250);
  expect(labels.map(({ key }) => key)).toEqual(['0', '100', '240']);
  const size = 'a label'.length * 6.8;
  for (const [at, { left }] of labels.entries()) {
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left + size).toBeLessThanOrEqual(250);
    expect(left + size).toBeLessThan(labels[at + 1]?.left ?? Number.POSITIVE_INFINITY);
  }
  expect(fitLabels(wanted, 10)).toEqual([]);
});

test('zooming and moving stay within the whole, and are stored in the URL', () => {
  expect(zoomBy(WHOLE, 0.5)).toEqual({ from: 0.25, to: 0.75 });
  expect(zoomBy({ from: 0, to: 0.5 }, 4)).toEqual(WHOLE);
  expect(moveBy({ from: 0.5, to: 1 }, 0.5)).toEqual({ from: 0.5, to: 1 });
  expect(moveBy({ from: 0.5, to: 0.75 }, -1)).toEqual({ from: 0.25, to: 0.5 });
  expect(clampZoom({ from: 0.5, to: 0.5 }).to).toBeCloseTo(0.501);
  expect(readZoom(writeZoom({ from: 0.25, to: 0.5 }) ?? '')).toEqual({ from: 0.25, to: 0.5 });
  expect(writeZoom(WHOLE)).toBeUndefined();
  for (const odd of ['', 'x-y', '0.5-0.2', '-1-2', '0.1', 'NaN-NaN']) expect(readZoom(odd)).toEqual(WHOLE);
});

test('the duration of a bar is placed where there is space', () => {
  expect(labelPlace({ from: 0, to: 0.2 }, '2.0 s', 400)).toBe('after');
  expect(labelPlace({ from: 0.8, to: 1 }, '2.0 s', 400)).toBe('before');
  expect(labelPlace({ from: 0, to: 1 }, '2.0 s', 400)).toBe('on');
});
