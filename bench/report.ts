import type { Figures } from './system/system.ts';
import { isRate, isReached, ratioTargets, targets } from './targets.ts';

export type Result = {
  workload: string;
  title: string;
  size: number;
  /** Results by system, in the order of the measurements. Failures are results, too. */
  systems: Record<string, { repetitions: Figures[]; failure?: string }>;
};

/** One figure of one system: the minimum, the median and the maximum over the repetitions. */
export type Row = {
  workload: string;
  figure: string;
  system: string;
  min: number;
  median: number;
  max: number;
  /** The factor by which Baton's median is better: higher if more is better, lower if less is better. */
  ratio?: number;
  reached?: boolean;
};

export function rowsOf(result: Result): Row[] {
  const figures = new Set(
    Object.values(result.systems).flatMap(({ repetitions }) => Object.keys(repetitions[0] ?? {})),
  );
  return [...figures].flatMap(figure => {
    const medians = new Map<string, Row>();
    for (const [system, { repetitions }] of Object.entries(result.systems)) {
      const values = repetitions.flatMap(figures => figures[figure] ?? []).sort((a, b) => a - b);
      const [min, median, max] = [values[0], values[values.length >> 1], values.at(-1)];
      if (min === undefined || median === undefined || max === undefined) continue;
      medians.set(system, {
        workload: result.workload,
        figure,
        system,
        min,
        median,
        max,
        ...verdict(result, figure, system, median),
      });
    }
    const own = medians.get('baton')?.median;
    return [...medians.values()].map(row => {
      if (own === undefined || row.system === 'baton') return row;
      const ratio = isRate(figure) ? own / row.median : row.median / own;
      const bound = result.workload === 'chain' && figure === 'steps/s' ? ratioTargets[row.system] : undefined;
      return { ...row, ratio, ...(bound === undefined ? {} : { reached: ratio >= bound }) };
    });
  });
}

function verdict({ workload }: Result, figure: string, system: string, median: number): { reached?: boolean } {
  const target = targets.find(each => each.workload === workload && each.figure === figure);
  return target && system === 'baton' ? { reached: isReached(target, median) } : {};
}

/** Returns the table for the terminal. */
export function textOf(result: Result): string {
  const lines = rowsOf(result).map(row => {
    const { workload, figure, system, min, median, max } = row;
    const numbers = `min ${formatNumber(min)}  median ${formatNumber(median)}  max ${formatNumber(max)}`;
    return `${workload.padEnd(12)} ${figure.padEnd(28)} ${system.padEnd(16)} ${numbers}  ${remark(row)}`.trimEnd();
  });
  const failures = Object.entries(result.systems).flatMap(([system, { failure }]) =>
    failure ? [`${result.workload.padEnd(12)} ${system}: ${failure}`] : [],
  );
  return [...lines, ...failures].join('\n');
}

function remark({ ratio, workload, figure, system, reached }: Row): string {
  const compared = ratio === undefined ? '' : `Baton ×${ratio.toFixed(ratio < 10 ? 1 : 0)}`;
  if (reached === undefined) return compared;
  const target = targets.find(each => each.workload === workload && each.figure === figure);
  const bound = system === 'baton' ? `${isRate(figure) ? '≥' : '≤'} ${target?.reach}` : `≥ ×${ratioTargets[system]}`;
  return `${compared} ${reached ? '✓' : '✗'} ${bound}`.trim();
}

/** Returns one table per workload: every figure of every system, with its range and the ratio. */
export function markdownOf(results: readonly Result[]): string {
  const head = '| figure | system | min | median | max | |\n|---|---|---:|---:|---:|---|';
  return results
    .map(result => {
      const rows = rowsOf(result).map(row => {
        const numbers = [row.min, row.median, row.max].map(value => formatNumber(value).trim()).join(' | ');
        return `| ${row.figure} | ${row.system} | ${numbers} | ${remark(row)} |`;
      });
      const failures = Object.entries(result.systems).flatMap(([system, { failure }]) =>
        failure ? [`| failed | ${system} | | | | ${failure.split('\n')[0]?.replaceAll('|', '\\|')} |`] : [],
      );
      const size = result.size > 0 ? ` (${result.size.toLocaleString('en')})` : '';
      return `### ${result.workload}: ${result.title}${size}\n\n${head}\n${[...rows, ...failures].join('\n')}\n`;
    })
    .join('\n');
}

/** Formats a number for tables. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 3 : 0 }).padStart(9);
}
