/**
 * Credits, always as whole microcredits in a safe integer (docs/specification/billing.md#credits: 1 credit =
 * 1,000,000 microcredits). The database keeps 64-bit integers within the same bounds, so JSON and `number` hold every
 * amount exactly.
 */
export const CREDIT = 1_000_000;

/** The maximum of an amount or a balance: 4.5 billion credits. The sum of two is still a safe integer. */
export const MAX_MICROCREDITS = 4_500_000_000_000_000;

/** Returns the cost of `quantity` units at `price` microcredits each. RangeError beyond MAX_MICROCREDITS. */
export function cost(quantity: number, price: number): number {
  const microcredits = quantity * price;
  if (!Number.isInteger(microcredits) || microcredits < 0 || microcredits > MAX_MICROCREDITS)
    throw new RangeError(`${quantity} at ${price} microcredits is not an amount of credits`);
  return microcredits;
}

/** Converts a bigint column, which the driver returns as text, or a number. RangeError if it is not a safe integer. */
export function toMicrocredits(column: string | number | bigint): number {
  const microcredits = Number(column);
  if (!Number.isSafeInteger(microcredits)) throw new RangeError(`${column} is not an amount of credits`);
  return microcredits;
}
