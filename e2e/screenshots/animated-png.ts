import { crc32 } from 'node:zlib';

/** A still picture, and for how long it is shown. */
export type Frame = { png: Buffer; ms: number };

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

type Chunk = { type: string; data: Buffer };

/**
 * Returns an animated PNG (https://www.w3.org/TR/png-3/) of pictures of one size, which repeats for ever. Its pixels are those of the
 * pictures: their data is copied, not encoded anew. Throws where the pictures differ in size or format.
 */
export function animatePng(frames: readonly Frame[]): Buffer {
  const [first] = frames;
  if (first === undefined) throw new Error('An animation has at least one frame.');
  const [header] = chunksOf(first.png);
  if (header?.type !== 'IHDR') throw new Error('A frame is not a PNG.');
  const chunks: Chunk[] = [header, { type: 'acTL', data: numbers(frames.length, 0) }];
  let sequence = 0;
  for (const [index, { png, ms }] of frames.entries()) {
    const [own, ...rest] = chunksOf(png);
    if (own === undefined || !own.data.equals(header.data)) throw new Error('All frames need one size and format.');
    chunks.push({ type: 'fcTL', data: frameControl(sequence++, header.data, ms) });
    for (const { data } of rest.filter(({ type }) => type === 'IDAT'))
      chunks.push(
        index === 0 ? { type: 'IDAT', data } : { type: 'fdAT', data: Buffer.concat([numbers(sequence++), data]) },
      );
  }
  chunks.push({ type: 'IEND', data: Buffer.alloc(0) });
  return Buffer.concat([SIGNATURE, ...chunks.map(encode)]);
}

/** The size in the header, no offset, the time in ms; the frame replaces all of the one before. */
function frameControl(sequence: number, header: Buffer, ms: number): Buffer {
  const delay = Buffer.alloc(6);
  delay.writeUInt16BE(Math.min(ms, 65_535), 0);
  delay.writeUInt16BE(1000, 2);
  return Buffer.concat([numbers(sequence), header.subarray(0, 8), numbers(0, 0), delay]);
}

/** Returns the chunks of a PNG. */
export function chunksOf(png: Buffer): Chunk[] {
  if (!png.subarray(0, 8).equals(SIGNATURE)) throw new Error('A frame is not a PNG.');
  const chunks: Chunk[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return chunks;
}

function encode({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([numbers(data.length), body, numbers(crc32(body))]);
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}
