/** `unknown`: part of the schema could not be judged, so that it refuses nothing. */
export type Verdict = 'valid' | 'invalid' | 'unknown';

/** Returns the verdict for two parts of a schema that both have to allow a value. */
export function worse(a: Verdict, b: Verdict): Verdict {
  if (a === 'invalid' || b === 'invalid') return 'invalid';
  return a === 'unknown' ? a : b;
}
