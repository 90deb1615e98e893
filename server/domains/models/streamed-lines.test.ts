import { expect, test } from 'vitest';
import { ManualClock } from '../../platform/clock.ts';
import { StreamedLines } from './streamed-lines.ts';

function start() {
  const clock = new ManualClock();
  const batches: string[][] = [];
  const lines = new StreamedLines(
    () => clock.now(),
    batch => batches.push(batch),
  );
  return { clock, batches, lines };
}

test('a short answer is one batch, at the end', () => {
  const { batches, lines } = start();
  for (const piece of ['Hello', ' there', '.\n\nBye.']) lines.add(piece);
  expect(batches).toEqual([]);
  expect(lines.rest()).toEqual(['Hello there.', 'Bye.']);
  expect(lines.rest()).toEqual([]);
});

test('after 250 ms the complete part is logged: up to a line break or a space', () => {
  const { clock, batches, lines } = start();
  lines.add('one tw');
  clock.advance(249);
  lines.add('o');
  expect(batches).toEqual([]);
  clock.advance(1);
  lines.add(' thr');
  expect(batches).toEqual([['one two']]);
  clock.advance(250);
  lines.add('ee\nfour');
  expect(batches).toEqual([['one two'], ['three']]);
  expect(lines.rest()).toEqual(['four']);
});

test('4 KiB are logged immediately, even without a space, and no character is split', () => {
  const { batches, lines } = start();
  lines.add(`${'x'.repeat(4_095)}😀`.slice(0, 4_096));
  lines.add('\ude00tail');
  const all = [...batches.flat(), ...lines.rest()];
  expect(all.every(line => line.isWellFormed())).toBe(true);
  expect(all.join('')).toBe(`${'x'.repeat(4_095)}😀tail`);
});

test('a longer stream has fewer batches: five minutes of words have about a hundred', () => {
  const { clock, batches, lines } = start();
  for (let word = 0; word < 15_000; word++) {
    lines.add('w ');
    clock.advance(20);
  }
  expect(batches.length).toBeGreaterThan(60);
  expect(batches.length).toBeLessThan(130);
});

test('after 64 KiB nothing more is logged', () => {
  const { batches, lines } = start();
  for (let at = 0; at < 200; at++) lines.add(`${'y'.repeat(1_000)} `);
  const loggedLength = batches.flat().join('\n').length;
  expect(loggedLength).toBeGreaterThan(64 * 1024);
  expect(loggedLength).toBeLessThan(72 * 1024);
  expect(lines.rest()).toEqual([]);
});
