/** The length of a vector if the request does not set one. */
export const DEFAULT_DIMENSIONS = 256;
/** A shared meaning of two words has more weight than their different letters. */
const MEANING_WEIGHT = 4;
const MIN_GRAM_LENGTH = 3;
const MAX_GRAM_LENGTH = 5;

/** The words of each line are synonyms. */
const KNOWN_SYNONYMS = [
  ['car', 'automobile', 'vehicle'],
  ['buy', 'purchase', 'acquire'],
  ['cost', 'price', 'fee', 'charge'],
  ['bill', 'invoice'],
  ['customer', 'client', 'buyer'],
  ['employee', 'worker', 'colleague', 'staff'],
  ['company', 'firm', 'business', 'enterprise'],
  ['fast', 'quick', 'rapid', 'speedy'],
  ['begin', 'start', 'commence'],
  ['end', 'finish', 'stop', 'conclude'],
  ['broken', 'defective', 'faulty', 'damaged'],
  ['repair', 'fix', 'mend'],
  ['error', 'failure', 'fault', 'mistake'],
  ['happy', 'glad', 'pleased', 'delighted'],
  ['big', 'large', 'huge'],
  ['small', 'little', 'tiny'],
  ['home', 'house', 'residence'],
  ['doctor', 'physician', 'medic'],
  ['job', 'occupation', 'profession'],
  ['trip', 'journey', 'travel', 'voyage'],
  ['film', 'movie'],
  ['child', 'kid'],
  ['like', 'prefer', 'enjoy', 'favour', 'favor'],
  ['dog', 'hound'],
  ['cat', 'feline'],
  ['move', 'relocate'],
  ['phone', 'telephone', 'mobile'],
  ['mail', 'email'],
  ['deadline', 'due'],
  ['meeting', 'appointment'],
];
/** Frequent words, which say little about a text. */
const FREQUENT = new Set(
  'a an and are as at be by do does for from has have i in is it my not of on or our that the their this to was we were will with you your'.split(
    ' ',
  ),
);

/** Converts text to vectors. Vectors are near if the texts share words, parts of words, or synonyms. */
export class Embedder {
  readonly #meanings = new Map<string, string>();

  constructor(synonyms: readonly (readonly string[])[] = []) {
    for (const group of [...KNOWN_SYNONYMS, ...synonyms]) {
      const [meaning = ''] = group;
      for (const word of group) this.#meanings.set(stem(word), stem(meaning));
    }
  }

  /** Returns a vector of length 1, which is the same for the same text on every machine. */
  embed(text: string, dimensions = DEFAULT_DIMENSIONS): number[] {
    const vector = new Array<number>(dimensions).fill(0);
    const add = (feature: string, weight: number) => {
      const hash = fnv1a(feature);
      const at = hash % dimensions;
      vector[at] = (vector[at] ?? 0) + (hash & 0x80000000 ? -weight : weight);
    };
    for (const word of wordsOf(text)) {
      const rare = FREQUENT.has(word) ? 0.05 : 1;
      const stemmed = stem(word);
      add(`=${this.#meanings.get(stemmed) ?? stemmed}`, MEANING_WEIGHT * rare);
      const grams = gramsOf(stemmed);
      for (const gram of grams) add(gram, rare / Math.sqrt(grams.length));
    }
    // An empty text gets a direction too: a vector of zeros has no cosine.
    const length = Math.hypot(...vector);
    if (length === 0) return vector.map((_, at) => (at === 0 ? 1 : 0));
    return vector.map(value => value / length);
  }
}

function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Returns a word without its plural. */
const stem = (word: string): string => (word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word);

function gramsOf(word: string): string[] {
  const framed = `^${word}$`;
  const grams: string[] = [];
  for (let size = MIN_GRAM_LENGTH; size <= MAX_GRAM_LENGTH; size += 1) {
    for (let at = 0; at + size <= framed.length; at += 1) grams.push(framed.slice(at, at + size));
  }
  return grams;
}

/** Returns 32 bits of FNV-1a, finished as in murmur3, so that the low bits are as even as the high ones. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
