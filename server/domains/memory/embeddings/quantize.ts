/** The signs of a vector, as PostgreSQL reads a bit string: the nearest vectors have the most signs in common. */
export const bitsOf = (vector: readonly number[]): string => vector.map(value => (value >= 0 ? '1' : '0')).join('');

const LARGEST_CODE = 127;

/** A vector as 8-bit integers. Its length is lost, which a cosine does not need. */
export function codesOf(vector: readonly number[]): Buffer {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = largest === 0 ? 0 : LARGEST_CODE / largest;
  return Buffer.from(Int8Array.from(vector, value => Math.round(value * scale)).buffer);
}

/** The cosine of the angle between a vector and the codes of another; 0 where one of them has no direction. */
export function cosine(vector: ArrayLike<number>, codes: Uint8Array): number {
  const other = signed(codes);
  let dot = 0;
  let lengthSquared = 0;
  let otherSquared = 0;
  for (let at = 0; at < vector.length; at += 1) {
    const value = vector[at] ?? 0;
    const code = other[at] ?? 0;
    dot += value * code;
    lengthSquared += value * value;
    otherSquared += code * code;
  }
  const lengths = Math.sqrt(lengthSquared * otherSquared);
  return lengths === 0 ? 0 : dot / lengths;
}

/** For vectors of chance, one cosine in a thousand is further from 0 than so many standard deviations, of one by the root of the dimension. */
const DEVIATIONS = 3;

/** The codes of a text with their cosine to the query. */
export type Compared = { codes: Uint8Array; score: number };

/**
 * Whether two texts are equally near to a query, as far as vectors can tell: the direction from one to the other has no more to do with the
 * query than chance. Of two statements that differ in a name for which nobody asks, the nearer one is so by accident.
 */
export function areEquallyNear(one: Compared, other: Compared): boolean {
  const between = Math.sqrt(Math.max(0, 2 - 2 * cosine(signed(one.codes), other.codes)));
  return Math.abs(one.score - other.score) <= (DEVIATIONS / Math.sqrt(one.codes.byteLength)) * between;
}

const signed = ({ buffer, byteOffset, byteLength }: Uint8Array) => new Int8Array(buffer, byteOffset, byteLength);

/** Texts that have nothing to do with each other have about 0 with most models, and up to this with some. */
const UNRELATED_COSINE = 0.2;

/** The least cosine of two vectors of this dimension that are nearer than chance. */
export const minCosine = (dimensions: number): number => Math.max(UNRELATED_COSINE, DEVIATIONS / Math.sqrt(dimensions));
