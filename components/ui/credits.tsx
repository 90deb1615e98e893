'use client';
import { Tooltip } from './tooltip.tsx';

const MICRO = 1_000_000;

const styles = {
  exact: { maximumFractionDigits: 6 },
  // Truncated, not rounded: a balance never looks larger than it is.
  hundredths: { maximumFractionDigits: 2, roundingMode: 'trunc' },
  significant: { maximumSignificantDigits: 3, roundingMode: 'trunc' },
  compact: { notation: 'compact', maximumSignificantDigits: 3 },
} as const;
const made = new Map<keyof typeof styles, Intl.NumberFormat>();

/** Returns a formatter, created on demand: each takes some milliseconds on a phone, and few pages need all four. */
function format(style: keyof typeof styles): Intl.NumberFormat {
  let known = made.get(style);
  if (known === undefined) {
    known = new Intl.NumberFormat('en', styles[style]);
    made.set(style, known);
  }
  return known;
}

/**
 * Formats microcredits as credits: "1,204.5". Below one credit, it uses the first three significant digits ("0.0123"),
 * and never shows 0 for a nonzero amount. `exact`: with all six decimals, for tables and hints.
 */
export function formatCredits(microcredits: number, { exact: whole = false }: { exact?: boolean } = {}): string {
  // Formatted from text, because a double cannot represent ten digits before the decimal point and six after it.
  if (whole) return format('exact').format(`${microcredits}e-6` as `${number}`);
  const credits = microcredits / MICRO;
  return format(Math.abs(credits) < 1 ? 'significant' : 'hundredths').format(credits);
}

/** Formats an amount for the ticks of an axis: "1.2K", "30M", "0.05". */
export function formatCreditsShort(microcredits: number): string {
  return format('compact').format(microcredits / MICRO);
}

/** Formats an amount with its unit, for sentences: "1 credit", "0.5 credits". */
export function creditsInWords(microcredits: number, options?: { exact?: boolean }): string {
  return `${formatCredits(microcredits, options)} ${microcredits === MICRO ? 'credit' : 'credits'}`;
}

/** An amount of credits, given in microcredits, with the exact amount on hover. `unit` adds the word. */
export function Credits({ value, unit = false, className }: { value: number; unit?: boolean; className?: string }) {
  return (
    <Tooltip content={<ExactCredits value={value} />}>
      <data value={value} className={className ?? 'whitespace-nowrap tabular-nums'}>
        {unit ? creditsInWords(value) : formatCredits(value)}
      </data>
    </Tooltip>
  );
}

function ExactCredits({ value }: { value: number }) {
  return <span className="tabular-nums">{creditsInWords(value, { exact: true })}</span>;
}
