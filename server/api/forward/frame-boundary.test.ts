import { expect, test } from 'vitest';
import { closeFrame, FrameBoundary } from './frame-boundary.ts';

const TEXT = 0x81;
/** Returns a frame with `length` bytes of content, each of which looks like the head of a close frame. */
function frame(first: number, length: number): Buffer {
  const head =
    length < 126
      ? Buffer.from([first, length])
      : length < 65_536
        ? Buffer.from([first, 126, length >> 8, length & 0xff])
        : Buffer.from([first, 127, 0, 0, 0, 0, 0, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff]);
  return Buffer.concat([head, Buffer.alloc(length, 0x88)]);
}

test.each([1, 2, 3, 7, 1_000, 1_000_000])('finds the ends of frames that come in pieces of %i bytes', size => {
  const frames = [frame(TEXT, 0), frame(0x89, 125), frame(TEXT, 126), frame(TEXT, 3), frame(TEXT, 65_536)];
  const all = Buffer.concat(frames);
  const ends = new Set(frames.map((_, at) => Buffer.concat(frames.slice(0, at + 1)).byteLength));
  const boundary = new FrameBoundary();
  const wrong: number[] = [];
  for (let at = 0; at < all.byteLength; at += size) {
    const piece = all.subarray(at, at + size);
    boundary.take(piece);
    if (boundary.isOpen !== ends.has(at + piece.byteLength)) wrong.push(at);
  }
  expect(wrong).toEqual([]);
});

test('nothing follows a close frame', () => {
  const boundary = new FrameBoundary();
  expect(boundary.isOpen).toBe(true);
  const close = closeFrame(1012, 'again');
  expect([...close.subarray(0, 4)]).toEqual([0x88, 7, 0x03, 0xf4]);
  boundary.take(close.subarray(0, 5));
  expect([boundary.isOpen, boundary.isClosed]).toEqual([false, false]);
  boundary.take(close.subarray(5));
  expect([boundary.isOpen, boundary.isClosed]).toEqual([false, true]);
});
