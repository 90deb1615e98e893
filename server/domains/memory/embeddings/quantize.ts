/** Returns the signs of a vector as a bit string of PostgreSQL. The nearest vectors have the most signs in common. */
export const bitsOf = (vector: readonly number[]): string => vector.map(value => (value >= 0 ? '1' : '0')).join('');

const LARGEST_CODE = 127;

/** Returns a vector as 8-bit integers. The length of the vector is lost, but a cosine does not need it. */
export function codesOf(vector: readonly number[]): Buffer {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = largest === 0 ? 0 : LARGEST_CODE / largest;
  return Buffer.from(Int8Array.from(vector, value => Math.round(value * scale)).buffer);
}

/** Returns the cosine of the angle between a vector and the codes of another one; 0 if either is a zero vector. */
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

/**
 * The number of standard deviations from 0 that a cosine of random vectors rarely exceeds: about one in a thousand does. The standard
 * deviation is 1 divided by the root of the dimension.
 */
const CHANCE_DEVIATIONS = 3;

/** The codes of a text with their cosine to the query. */
export type Compared = { codes: Uint8Array; score: number };

/**
 * Returns whether two texts are equally near to a query within the accuracy of vectors: the direction from one text to the other is
 * unrelated to the query. Two statements that differ only in a name are equally near to a query without that name.
 */
export function areEquallyNear(one: Compared, other: Compared): boolean {
  const between = Math.sqrt(Math.max(0, 2 - 2 * cosine(signed(one.codes), other.codes)));
  return Math.abs(one.score - other.score) <= (CHANCE_DEVIATIONS / Math.sqrt(one.codes.byteLength)) * between;
}

const signed = ({ buffer, byteOffset, byteLength }: Uint8Array) => new Int8Array(buffer, byteOffset, byteLength);

/** The highest cosine of unrelated texts. Most models give them about 0. */
const UNRELATED_COSINE = 0.2;

/** Returns the least cosine of vectors of this dimension that are related. */
export const minCosine = (dimensions: number): number =>
  Math.max(UNRELATED_COSINE, CHANCE_DEVIATIONS / Math.sqrt(dimensions));
