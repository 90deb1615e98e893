import { canonicalNumber, isInt64 } from '../../../platform/json-text.ts';
import { CelError } from './cel-error.ts';
import type { Arithmetic } from './values.ts';

/**
 * The numbers of an expression. As in JSON, there is one type of number. Integers are exact up to 64 bits: those beyond
 * 2^53 are bigints, as in platform/json-text.ts.
 */
export type CelNumber = number | bigint;

const isExact = (value: CelNumber): boolean => typeof value === 'bigint' || Number.isSafeInteger(value);

/** Returns `a operator b`. Throws CelError for a division by zero, an infinite result and an overflow. */
export function calculate(operator: Arithmetic, a: CelNumber, b: CelNumber): CelNumber {
  if (b === 0 && (operator === '/' || operator === '%')) throw new CelError('division by zero');
  if (typeof a === 'number' && typeof b === 'number') {
    const result = ofDoubles(operator, a, b);
    // The common case: for a safe integer or a fraction, the result of double arithmetic is exact or correctly rounded.
    if (!Number.isInteger(result) || Number.isSafeInteger(result)) return finite(result);
  }
  if (!isExact(a) || !isExact(b)) return canonicalNumber(finite(ofDoubles(operator, Number(a), Number(b))));
  const exact = ofIntegers(operator, BigInt(a), BigInt(b));
  // 7 / 2 is 3.5, for large integers too.
  if (exact === null) return canonicalNumber(finite(Number(a) / Number(b)));
  if (!isInt64(exact)) throw new CelError('the integer result has more than 64 bits');
  return canonicalNumber(exact);
}

function ofDoubles(operator: Arithmetic, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
  }
}

/** Returns null for a division that leaves a remainder. */
function ofIntegers(operator: Arithmetic, a: bigint, b: bigint): bigint | null {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a % b === 0n ? a / b : null;
    case '%':
      return a % b;
  }
}

/** Returns `-value`. Throws CelError if the result needs more than 64 bits. */
export function negate(value: CelNumber): CelNumber {
  if (typeof value === 'number') return -value;
  if (!isInt64(-value)) throw new CelError('the integer result has more than 64 bits');
  return canonicalNumber(-value);
}

/** Returns the CEL type of a number. */
export function numberType(value: CelNumber): 'int' | 'uint' | 'double' {
  if (typeof value === 'bigint') return value >= 2n ** 63n ? 'uint' : 'int';
  return Number.isInteger(value) ? 'int' : 'double';
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new CelError('the result is not a finite number');
  return value;
}
