import { crc32, deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { animatePng, chunksOf } from './animated-png.ts';

/** A picture of one color, as any encoder writes it. */
function picture(width: number, height: number, [red, green, blue]: readonly [number, number, number]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.from([0, ...Array.from({ length: width }, () => [red, green, blue]).flat()]);
  const data = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const chunk = (type: string, content: Buffer) => {
    const bytes = Buffer.alloc(12 + content.length);
    bytes.writeUInt32BE(content.length, 0);
    bytes.write(type, 4, 'latin1');
    content.copy(bytes, 8);
    bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + content.length)), 8 + content.length);
    return bytes;
  };
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

test('frames follow each other with their own times, and keep their pixels', () => {
  const red = picture(3, 2, [255, 0, 0]);
  const blue = picture(3, 2, [0, 0, 255]);
  const found = chunksOf(
    animatePng([
      { png: red, ms: 400 },
      { png: blue, ms: 70_000 },
    ]),
  );
  expect(found.map(({ type }) => type)).toEqual(['IHDR', 'acTL', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'IEND']);
  const [, animation, first, pixels, second, more] = found.map(({ data }) => data);
  expect(animation?.toString('hex')).toBe('0000000200000000');
  // Number, width, height, two offsets, the time over 1,000, how it is disposed of and blended.
  expect(first?.toString('hex')).toBe('00000000000000030000000200000000000000000190' + '03e80000');
  expect(second?.toString('hex')).toBe('000000010000000300000002000000000000000' + '0ffff03e80000');
  expect(pixels).toEqual(chunksOf(red)[1]?.data);
  expect(more?.readUInt32BE(0)).toBe(2);
  expect(more?.subarray(4)).toEqual(chunksOf(blue)[1]?.data);
});

test('a single frame, none, another size and what is no picture', () => {
  const one = picture(1, 1, [0, 0, 0]);
  expect(chunksOf(animatePng([{ png: one, ms: 1 }])).map(({ type }) => type)).toContain('acTL');
  expect(() => animatePng([])).toThrow('at least one');
  const other = picture(2, 1, [0, 0, 0]);
  expect(() =>
    animatePng([
      { png: one, ms: 1 },
      { png: other, ms: 1 },
    ]),
  ).toThrow('one size');
  expect(() => animatePng([{ png: Buffer.from('no picture'), ms: 1 }])).toThrow('not a PNG');
});
