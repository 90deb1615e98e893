/**
 * Credits, always as whole microcredits in a safe integer (docs/specification/billing.md#credits: 1 credit =
 * 1,000,000 microcredits). The database keeps 64-bit integers within the same bounds, so JSON and `number` hold every
 * amount exactly.
 */
export const CREDIT = 1_000_000;

/** The most that an amount or a balance may be: 4.5 billion credits. Two of them together are still a safe integer. */
export const MAX_MICROCREDITS = 4_500_000_000_000_000;

/** Returns the cost of `quantity` units at `price` microcredits each. RangeError beyond MAX_MICROCREDITS. */
export function cost(quantity: number, price: number): number {
  const microcredits = quantity * price;
  if (!Number.isInteger(microcredits) || microcredits < 0 || microcredits > MAX_MICROCREDITS)
    throw new RangeError(`${quantity} at ${price} microcredits is not an amount of credits`);
  return microcredits;
}

/** A bigint column as the driver gives it (text) or as a number. RangeError where it is not a safe integer. */
export function toMicrocredits(column: string | number | bigint): number {
  const microcredits = Number(column);
  if (!Number.isSafeInteger(microcredits)) throw new RangeError(`${column} is not an amount of credits`);
  return microcredits;
}
