import { z } from 'zod';

/** Trimmed text; undefined if nothing is left. */
export const optional = z
  .string()
  .transform(value => value.trim() || undefined)
  .optional();

/** Returns a schema for an integer between two bounds, inclusive. */
export const integer = (fallback: number, min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(message).int(message).min(min, message).max(max, message).default(fallback);
};

export const optionalHttpUrl = optional.pipe(
  z.url({ protocol: /^https?$/, error: 'must be a URL with http:// or https://' }).optional(),
);

/** A token that a client presents as `Authorization: Bearer`. */
export const optionalBearerToken = optional.refine(
  token => token === undefined || /^[A-Za-z0-9._~+/=-]{16,512}$/.test(token),
  'must be 16 to 512 characters of A-Z a-z 0-9 - . _ ~ + / = (openssl rand -hex 32)',
);
