import { z } from 'zod';
import type { Random } from './random.ts';

/**
 * Returns a value that a field's schema may or may not accept: at its bounds, beyond them, or of another type that
 * arithmetic or a text column could fail on.
 */
export function hostileValue(random: Random, schema: z.core.$ZodType): unknown {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  if (random.chance(0.3)) return random.pick<unknown>([null, {}, [], '', 'x', true, 0, -1, [1], { a: {} }]);
  if (inner instanceof z.ZodNumber) return hostileNumber(random, inner);
  if (inner instanceof z.ZodString) return hostileText(random, inner);
  if (inner instanceof z.ZodBoolean) return random.pick<unknown>([true, false, 'true', 1]);
  if (inner instanceof z.ZodEnum) return random.pick<unknown>(['nonsense', 0, ...inner.options]);
  if (inner instanceof z.ZodArray) return random.pick<unknown>([[], [null], [7], [{}], [[]], 'x']);
  return random.pick<unknown>([{}, { a: 1 }, { x: '1' }, [], 'x']);
}

function hostileNumber(random: Random, { minValue, maxValue }: z.ZodNumber): unknown {
  const [min, max] = [minValue ?? 0, maxValue ?? 1];
  return random.pick<unknown>([
    min - 1,
    min,
    max,
    max + 1,
    max + 0.5,
    -0.5,
    1e-300,
    7e12,
    2n ** 53n,
    1e308,
    -1e308,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    '1e999',
    'NaN',
  ]);
}

/** Created once: a text of a megabyte is only refused, never stored. */
const HUGE = 'x'.repeat(1024 * 1024);
/** Bounds of longer texts are not worth the time to test. */
const MAX_DRAWN_LENGTH = 5_000;

function hostileText(random: Random, { maxLength }: z.ZodString): unknown {
  if (random.chance(0.02)) return HUGE;
  if (maxLength !== null && maxLength <= MAX_DRAWN_LENGTH && random.chance(0.3))
    return 'y'.repeat(maxLength + random.below(2));
  return random.pick<unknown>(['a', 'a\u0000b', '\ud800', '{{', '{{input.x ?? 1}}', '__proto__', '\u{10ffff}']);
}
