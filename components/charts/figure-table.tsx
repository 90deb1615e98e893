import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Th } from '../ui/table.tsx';
import { type Cell, type Column, type Figures, formatFigure } from './figures.ts';

/**
 * The numbers of a chart as a table, which replaces the chart and scrolls within its height. `label` is the table's
 * accessible name.
 */
export function FigureTable({ label, figures, height }: { label: string; figures: Figures; height: number }) {
  const { columns, rows } = figures;
  return (
    <ScrollRegion
      label={label}
      style={{ maxHeight: height }}
      className="overflow-auto rounded-md border focus-visible:-outline-offset-2"
    >
      <table className="w-full border-collapse text-left text-sm">
        <thead>
          <tr className="sticky top-0 bg-sunken text-xs text-muted">
            {columns.map(({ label: name, unit }) => (
              <Th key={name} className={unit ? 'text-right' : undefined}>
                {name}
              </Th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells]) => (
            <tr key={[name, ...cells].join('\t')} className="border-b last:border-b-0 hover:bg-hover/60">
              <th scope="row" className="h-8 max-w-72 truncate px-3 font-normal">
                {name}
              </th>
              {cells.map((cell, at) => {
                const column = columns[at + 1] ?? { label: '' };
                return (
                  <td
                    key={column.label}
                    className={
                      column.unit
                        ? 'h-8 px-3 text-right whitespace-nowrap text-muted tabular-nums'
                        : 'h-8 px-3 whitespace-nowrap text-muted'
                    }
                  >
                    {cellText(cell, column)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function cellText(cell: Cell, { unit }: Column): string {
  if (cell === null) return '–';
  return typeof cell === 'number' && unit ? formatFigure(cell, unit, { exact: true }) : String(cell);
}
