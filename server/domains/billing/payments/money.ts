/** Formats an amount in minor units (`USD 49.00`); the currency determines the number of decimals. */
export function formatMoney(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code' });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return format.format(amount / 10 ** digits).replaceAll('\u00a0', ' ');
}
