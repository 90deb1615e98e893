/** The opcode of a close frame (RFC 6455, 5.5.1). */
const CLOSE = 8;

/**
 * Follows the frames that a server sends on a WebSocket (RFC 6455, 5.2), without reading their content: where one ends, another
 * frame may be sent.
 */
export class FrameBoundary {
  /** Bytes of the present frame's content that are still to come. */
  #left = 0;
  /** The beginning of a frame whose length is not known yet. */
  #head: number[] = [];
  #isClosing = false;

  /** Returns whether another frame may follow: the sent bytes end with a complete frame that is not a close frame. */
  get isOpen(): boolean {
    return this.#left === 0 && this.#head.length === 0 && !this.#isClosing;
  }

  /** Whether a close frame was sent, completely. */
  get isClosed(): boolean {
    return this.#isClosing && this.#left === 0;
  }

  /** Takes the next bytes that were sent. */
  take(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        at += taken;
        continue;
      }
      this.#head.push(bytes[at] ?? 0);
      at += 1;
      const length = lengthIn(this.#head);
      if (length === null) continue;
      this.#isClosing ||= ((this.#head[0] ?? 0) & 0x0f) === CLOSE;
      this.#left = length;
      this.#head = [];
    }
  }
}

/** Returns the length of a frame's content, with its mask, if the head is complete; otherwise null. */
function lengthIn(head: readonly number[]): number | null {
  const second = head[1];
  if (second === undefined) return null;
  const mask = (second & 0x80) === 0 ? 0 : 4;
  const short = second & 0x7f;
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (head.length < 2 + extended) return null;
  return mask + (extended === 0 ? short : head.slice(2, 2 + extended).reduce((sum, byte) => sum * 256 + byte, 0));
}

/** Returns a close frame as a server sends it. */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const frame = Buffer.alloc(4 + text.byteLength);
  frame.writeUInt8(0x80 | CLOSE, 0);
  frame.writeUInt8(2 + text.byteLength, 1);
  frame.writeUInt16BE(code, 2);
  text.copy(frame, 4);
  return frame;
}
