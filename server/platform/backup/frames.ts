import { StartupError } from '../postgres/startup-error.ts';
import type { TableRows } from './manifest.ts';

/** A frame is one byte of type, four of length, and that many bytes. */
const HEADER_BYTES = 5;
const MAX_FRAME_BYTES = 1024 * 1024;

const TABLE = 'T'.charCodeAt(0);
const DATA = 'D'.charCodeAt(0);
const END = 'E'.charCodeAt(0);

function header(type: number, length: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt8(type, 0);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

/** Writes tables as frames: the name of each, its rows, and its end. */
export async function* toFrames(tables: AsyncIterable<TableRows>): AsyncGenerator<Buffer> {
  for await (const { name, rows } of tables) {
    const bytes = Buffer.from(name, 'utf8');
    yield header(TABLE, bytes.length);
    yield bytes;
    for await (const chunk of rows)
      for (let from = 0; from < chunk.length; from += MAX_FRAME_BYTES) {
        const part = chunk.subarray(from, from + MAX_FRAME_BYTES);
        yield header(DATA, part.length);
        yield part;
      }
    yield header(END, 0);
  }
}

/** Reads what `toFrames` wrote. Throws StartupError for anything else. */
export async function* fromFrames(bytes: AsyncIterable<Buffer>): AsyncGenerator<TableRows> {
  const reader = new FrameReader(bytes);
  for (let frame = await reader.next(); frame !== null; frame = await reader.next()) {
    if (frame.type !== TABLE) throw malformed();
    const rows = rowsOf(reader);
    yield { name: frame.payload.toString('utf8'), rows };
    // Rows that were not read are skipped.
    for await (const _ of rows);
  }
}

async function* rowsOf(reader: FrameReader): AsyncGenerator<Buffer> {
  for (let frame = await reader.next(); frame?.type !== END; frame = await reader.next()) {
    if (frame?.type !== DATA) throw malformed();
    yield frame.payload;
  }
}

const malformed = () => new StartupError('The rows of the backup cannot be read: its file is damaged.');

class FrameReader {
  readonly #bytes: AsyncIterator<Buffer>;
  #pending: Buffer[] = [];
  #length = 0;

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#bytes = bytes[Symbol.asyncIterator]();
  }

  /** Returns the next frame; null at the end of the bytes. */
  async next(): Promise<{ type: number; payload: Buffer } | null> {
    if (!(await this.#holds(HEADER_BYTES))) {
      if (this.#length === 0) return null;
      throw malformed();
    }
    const head = this.#take(HEADER_BYTES);
    const length = head.readUInt32BE(1);
    if (length > MAX_FRAME_BYTES || !(await this.#holds(length))) throw malformed();
    return { type: head.readUInt8(0), payload: this.#take(length) };
  }

  /** Reads until that many bytes are there; returns false if there are fewer. */
  async #holds(count: number): Promise<boolean> {
    while (this.#length < count) {
      const { done, value } = await this.#bytes.next();
      if (done) return false;
      this.#pending.push(value);
      this.#length += value.length;
    }
    return true;
  }

  #take(count: number): Buffer {
    const all = this.#pending.length === 1 ? this.#pending[0] : Buffer.concat(this.#pending);
    const bytes = all ?? Buffer.alloc(0);
    this.#pending = bytes.length > count ? [bytes.subarray(count)] : [];
    this.#length -= count;
    return bytes.subarray(0, count);
  }
}
