/** Returns the number of decimals of a currency: 2 for usd, 0 for jpy. */
function digits(currency: string): number {
  return format(currency).resolvedOptions().maximumFractionDigits ?? 2;
}

const formats = new Map<string, Intl.NumberFormat>();
function format(currency: string): Intl.NumberFormat {
  const known = formats.get(currency);
  if (known) return known;
  const made = new Intl.NumberFormat('en', { style: 'currency', currency });
  formats.set(currency, made);
  return made;
}

/** Formats minor units as money: 4900 of `usd` is "$49.00", 4900 of `jpy` is "¥4,900". */
export function formatMoney(minor: number, currency: string): string {
  return format(currency).format(minor / 10 ** digits(currency));
}

/** Formats a price, without cents if there are none: "$49". */
export function formatPrice(minor: number, currency: string): string {
  const power = 10 ** digits(currency);
  return minor % power === 0 ? formatMoney(minor, currency).replace(/\.0+$/, '') : formatMoney(minor, currency);
}

/**
 * Converts an entered amount ("12", "12.5", "1,200.00") to minor units; null if it is not an amount of that currency.
 */
export function parseMoney(text: string, currency: string): number | null {
  const plain = text.trim().replaceAll(',', '');
  const places = digits(currency);
  const match = /^(\d{1,12})(?:\.(\d*))?$/.exec(plain);
  if (!match || (match[2] ?? '').length > places) return null;
  // Computed from the digits, because 1.1 * 100 is 110.00000000000001.
  return Number(`${match[1]}${(match[2] ?? '').padEnd(places, '0')}`);
}

/** Formats minor units as input text: "12.50". */
export function moneyText(minor: number, currency: string): string {
  return (minor / 10 ** digits(currency)).toFixed(digits(currency));
}
