/** Random numbers that depend only on the seed, on every machine (mulberry32). */
export class SeededRandom {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 to 1, exclusive. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  pick<T>(list: readonly T[]): T {
    const drawn = list[this.below(list.length)];
    if (drawn === undefined) throw new Error('The list is empty.');
    return drawn;
  }
}

const SYLLABLES =
  'ba be bi bo bu da de di do du fa fe ga go ka ke ki ko la le li lo lu ma me mi mo na ne ni no pa pe po ra re ri ro sa se si so ta te ti to va ve vi wo za zu'.split(
    ' ',
  );
const VOCABULARY = 20_000;
const MAX_WORDS = 60;
const MIN_WORDS = 15;

/** Texts of invented words, whose frequencies follow those of a language (Zipf's law). */
export class MadeTexts {
  readonly #random: SeededRandom;
  readonly #words: string[];

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    const words = new Set<string>();
    while (words.size < VOCABULARY) {
      words.add(Array.from({ length: 2 + this.#random.below(3) }, () => this.#random.pick(SYLLABLES)).join(''));
    }
    this.#words = [...words];
  }

  /** The word of rank r is drawn with a probability of about 1/r. */
  #word(): string {
    const rank = Math.floor(VOCABULARY ** this.#random.next()) - 1;
    return this.#words[rank] ?? '';
  }

  text(): string {
    const words = Array.from({ length: MIN_WORDS + this.#random.below(MAX_WORDS - MIN_WORDS) }, () => this.#word());
    return `${words.join(' ')}.`;
  }

  /** Returns three to six words of a text in their order, as a person would remember them. */
  question(text: string): string {
    const words = text.replace('.', '').split(' ');
    const from = this.#random.below(Math.max(1, words.length - 10));
    return words
      .slice(from, from + 10)
      .filter((_, at) => at % 2 === 0)
      .slice(0, 3 + this.#random.below(4))
      .join(' ');
  }

  vector(dimensions: number): number[] {
    return Array.from({ length: dimensions }, () => this.#random.next() - 0.5);
  }
}
