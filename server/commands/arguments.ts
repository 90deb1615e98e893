import { InvalidArgumentError } from '@commander-js/extra-typings';
import { Email } from '../domains/identity/schemas.ts';

type Schema<T> = { safeParse(value: unknown): { data?: T; error?: { issues: readonly { message: string }[] } } };

/**
 * Returns a parser of an argument that must satisfy `schema`. For an invalid argument the error has `message`, by default the
 * schema's message.
 */
export const readAs =
  <T>(schema: Schema<T>, message?: string) =>
  (text: string): T => {
    const { data, error } = schema.safeParse(text);
    if (data === undefined) throw new InvalidArgumentError(message ?? error?.issues[0]?.message ?? '');
    return data;
  };

/** Parses an email address; returns it as accounts store it. */
export function readEmail(text: string): string {
  const { data } = Email.safeParse(text);
  if (data === undefined) throw new InvalidArgumentError(`Not an email address: ${text}.`);
  return data;
}

/** Parses `30d`; returns the number of days. */
export function readDays(text: string): number {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1];
  if (days === undefined) throw new InvalidArgumentError('It takes a number of days such as 30d.');
  return Number(days);
}

/** Parses a date or an instant of ISO 8601; returns milliseconds since the epoch. */
export function readDate(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new InvalidArgumentError('It takes a date such as 2026-11-01.');
  return at;
}
