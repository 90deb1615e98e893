import { mulberry32, type Random } from '../faults/random.ts';

/** Draws values from a seed. The same seed gives the same values. */
export class Source {
  readonly #random: Random;

  constructor(seed: number, batch: number) {
    this.#random = mulberry32((Math.imul(seed, 0x9e3779b1) ^ Math.imul(batch + 1, 0x85ebca6b)) >>> 0);
  }

  /** Returns an integer from `from` to `to`, inclusive. */
  between(from: number, to: number): number {
    return this.#random.between(from, to);
  }

  /** Returns true once in `n` times. */
  oneIn(n: number): boolean {
    return this.#random.next() * n < 1;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.between(0, items.length - 1)] ?? items[0];
  }

  many<T>(from: number, to: number, draw: () => T): T[] {
    return Array.from({ length: this.between(from, to) }, draw);
  }

  /** Returns any bytes, one character each. */
  bytes(from: number, to: number): string {
    return this.many(from, to, () => String.fromCharCode(this.between(0, 255))).join('');
  }

  /** Changes one to eight places of a text: bytes are replaced, removed, repeated or inserted. */
  mutate(text: string): string {
    let changed = text;
    for (let left = this.between(1, 8); left > 0; left--) {
      const at = this.between(0, changed.length);
      const to = Math.min(changed.length, at + this.between(0, 6));
      const piece = this.pick<() => string>([
        () => '',
        () => this.bytes(1, 4),
        () => changed.slice(at, to).repeat(this.between(2, 40)),
        () =>
          this.pick(['\r\n', '\n', '\r', '\0', ' ', ':', ',', '/', '//', '%', '%00', '"', '{', '[', '\\', '\x80', 'ÿ']),
      ])();
      changed = changed.slice(0, at) + piece + changed.slice(to);
    }
    return changed.slice(0, 100_000);
  }
}
