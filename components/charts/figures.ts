import { creditsInWords, formatCredits, formatCreditsShort } from '../ui/credits.tsx';
import { formatDuration } from '../ui/time.tsx';

/** The unit of a number, which determines its format: things, microcredits, milliseconds, or a fraction of 1. */
export type Unit = 'count' | 'credits' | 'duration' | 'share';

export type Column = { label: string /** Absent where the column holds words. */; unit?: Unit };
/** null: the value does not exist, such as a percentile of no runs. */
export type Cell = string | number | null;

/** The data of a chart as rows, for its table and its CSV. The first column identifies the row. */
export type Figures = { columns: readonly Column[]; rows: readonly (readonly Cell[])[] };

const count = new Intl.NumberFormat('en');
const countShort = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1, roundingMode: 'trunc' });

/** Formats a number for people; with `exact`, credits keep all their decimals. */
export function formatFigure(value: number, unit: Unit, { exact = false }: { exact?: boolean } = {}): string {
  switch (unit) {
    case 'count':
      return count.format(value);
    case 'credits':
      return formatCredits(value, { exact });
    case 'duration':
      return formatDuration(value);
    case 'share':
      return share.format(value);
  }
}

/** Formats a number with its unit, for sentences: "3 credits". */
export function formatFigureInWords(value: number, unit: Unit): string {
  return unit === 'credits' ? creditsInWords(value) : formatFigure(value, unit);
}

/** Formats a number for the tick of an axis: "1.2K", "30M". */
export function formatTick(value: number, unit: Unit): string {
  switch (unit) {
    case 'count':
      return countShort.format(value);
    case 'credits':
      return formatCreditsShort(value);
    case 'duration':
    case 'share':
      return formatFigure(value, unit);
  }
}
