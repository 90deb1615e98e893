import { z } from 'zod';

/** Text without the blanks around it; undefined where nothing else is there. */
export const optional = z
  .string()
  .transform(value => value.trim() || undefined)
  .optional();

/** A whole number between two bounds, both included. */
export const integer = (fallback: number, min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(message).int(message).min(min, message).max(max, message).default(fallback);
};

export const optionalHttpUrl = optional.pipe(
  z.url({ protocol: /^https?$/, error: 'must be a URL with http:// or https://' }).optional(),
);
