import { formatNumber, markdownOf, type Result, type Row, rowsOf } from './report.ts';
import { isRate, ratioTargets, targets } from './targets.ts';

/** Returns the tables of docs/benchmarks.md: the targets, and the comparison of the systems. */
export function publication(heading: string, results: readonly Result[]): string {
  return [heading, targetTable(results), sideBySide(results)].filter(Boolean).join('\n\n');
}

/** Returns the same tables with every figure, for a file of bench/results. */
export function fullReport(heading: string, results: readonly Result[]): string {
  return `${publication(heading, results)}\n\n## Every figure\n\n${markdownOf(results)}`;
}

function targetTable(results: readonly Result[]): string {
  const rows = results.flatMap(rowsOf);
  const find = (workload: string, figure: string, system: string) =>
    rows.find(row => row.workload === workload && row.figure === figure && row.system === system);
  const bounds = targets.flatMap(({ workload, figure, reach }) => {
    const row = find(workload, figure, 'baton');
    if (!row) return [];
    const bound = `${isRate(figure) ? '≥' : '≤'} ${reach.toLocaleString('en')}`;
    const title = results.find(result => result.workload === workload)?.title ?? workload;
    const numbers = [row.min, row.median, row.max].map(value => formatNumber(value).trim()).join(' | ');
    return [`| ${title}: ${figure} | ${bound} | ${numbers} | ${row.reached ? 'reached' : '**missed**'} |`];
  });
  const ratios = Object.entries(ratioTargets).flatMap(([system, bound]) => {
    const row = find('chain', 'steps/s', system);
    if (row?.ratio === undefined) return [];
    const verdict = row.reached ? 'reached' : '**missed**';
    return [
      `| chain of 10, 64 in flight, against ${system} | ≥ ${bound}× | | ${row.ratio.toFixed(1)}× | | ${verdict} |`,
    ];
  });
  if (bounds.length === 0) return '';
  return `## Targets\n\n| work | target | min | median | max | |\n|---|---|---:|---:|---:|---|\n${[...bounds, ...ratios].join('\n')}`;
}

const columns: readonly { title: string; workload: string; figure: string }[] = [
  { title: 'chain alone, p50 ms', workload: 'chain-alone', figure: 'p50 ms' },
  { title: '64 in flight, steps/s', workload: 'chain', figure: 'steps/s' },
  { title: '256 in flight, steps/s', workload: 'chain-256', figure: 'steps/s' },
  { title: 'CPU s/1,000 steps', workload: 'chain', figure: 'CPU s/1,000 steps' },
  { title: 'peak MiB', workload: 'chain', figure: 'peak MiB' },
  { title: 'fan-out, p50 ms', workload: 'fan-out', figure: 'p50 ms' },
  { title: 'blocked: heap bytes each', workload: 'blocked', figure: 'heap bytes each' },
  { title: 'blocked: ms to release all', workload: 'blocked', figure: 'ms to release all' },
];

/** Returns medians, each with the factor by which Baton's is better in parentheses. */
function sideBySide(results: readonly Result[]): string {
  const rows = results.flatMap(rowsOf);
  const systems = [...new Set(rows.map(({ system }) => system))];
  if (systems.length < 2) return '';
  const cell = (row: Row | undefined) => {
    if (!row) return '–';
    return `${formatNumber(row.median).trim()}${row.ratio === undefined ? '' : ` (${row.ratio.toFixed(1)}×)`}`;
  };
  const lines = systems.map(system => {
    const cells = columns.map(({ workload, figure }) =>
      cell(rows.find(row => row.system === system && row.workload === workload && row.figure === figure)),
    );
    return `| ${[system, ...cells].join(' | ')} |`;
  });
  const head = `| | ${columns.map(({ title }) => title).join(' | ')} |\n|---|${columns.map(() => '---:').join('|')}|`;
  return `## Side by side\n\nMedians; in parentheses, how many times as good Baton's is.\n\n${head}\n${lines.join('\n')}`;
}
