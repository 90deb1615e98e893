/**
 * Stores a distribution of durations in log-linear bins: every millisecond below 256 has its own bin, and from there
 * each doubling is divided into 128. A percentile is reported as the middle of its bin, which is within 0.4 % of the
 * actual duration (half of 1/128), with some 3,000 bins between zero and a month. T-digests are smaller, but merging
 * them in another order gives other answers, and a rebuild must give the same as aggregation.
 */
const SUB_BITS = 7;
const SUB_BINS = 2 ** SUB_BITS;

/** Returns the bin of a duration in whole ms, 0 or more. */
export function binOf(ms: number): number {
  if (ms < SUB_BINS) return ms;
  // log2 rounds up just below a power of two; the comparison corrects that.
  let exponent = Math.floor(Math.log2(ms));
  if (2 ** exponent > ms) exponent -= 1;
  const doubling = exponent - SUB_BITS;
  return (doubling + 1) * SUB_BINS + (Math.floor(ms / 2 ** doubling) - SUB_BINS);
}

/** Returns the middle of the durations in a bin, in whole ms. */
export function durationOf(bin: number): number {
  if (bin < SUB_BINS) return bin;
  const doubling = Math.floor(bin / SUB_BINS) - 1;
  const width = 2 ** doubling;
  return (SUB_BINS + (bin % SUB_BINS)) * width + Math.floor((width - 1) / 2);
}

/** The number of durations in each bin. */
export class Histogram {
  readonly #counts = new Map<number, number>();

  /** Adds `count` durations of one bin. */
  add(bin: number, count = 1): void {
    this.#counts.set(bin, (this.#counts.get(bin) ?? 0) + count);
  }

  /** Adds a distribution that `pack` has written. Throws a RangeError for other bytes. */
  merge(packed: Uint8Array): void {
    let at = 0;
    const next = (): number => {
      let value = 0;
      for (let scale = 1; ; scale *= 128) {
        const byte = packed[at++];
        if (byte === undefined) throw new RangeError('a packed histogram ends early');
        value += (byte & 127) * scale;
        if (byte < 128) return value;
      }
    };
    for (let bin = 0; at < packed.length; ) {
      bin += next();
      this.add(bin, next());
    }
  }

  /**
   * Encodes pairs of the distance from the previous bin and the count as LEB128, bins ascending:
   * two or three bytes per bin.
   */
  pack(): Buffer {
    const bytes: number[] = [];
    const write = (value: number) => {
      let rest = value;
      for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
      bytes.push(rest);
    };
    let before = 0;
    for (const [bin, count] of this.#ascending()) {
      write(bin - before);
      write(count);
      before = bin;
    }
    return Buffer.from(bytes);
  }

  /**
   * Returns the durations in ms that the given shares of all durations (0..1, ascending) do not exceed, by nearest
   * rank; null for an empty distribution.
   */
  percentiles(...parts: number[]): (number | null)[] {
    const sorted = this.#ascending();
    const total = sorted.reduce((sum, [, count]) => sum + count, 0);
    let seen = 0;
    let at = -1;
    return parts.map(part => {
      const rank = Math.max(1, Math.ceil(part * total));
      while (seen < rank && at + 1 < sorted.length) {
        at += 1;
        seen += sorted[at]?.[1] ?? 0;
      }
      const bin = sorted[at]?.[0];
      return bin === undefined ? null : durationOf(bin);
    });
  }

  #ascending(): [bin: number, count: number][] {
    return [...this.#counts].sort(([a], [b]) => a - b);
  }
}
