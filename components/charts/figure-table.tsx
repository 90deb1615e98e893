import { Table, THead, Th } from '../ui/table.tsx';
import { type Cell, type Column, type Figures, formatFigure } from './figures.ts';

/** The numbers behind a chart. `label` is the table's accessible name. */
export function FigureTable({ label, figures }: { label: string; figures: Figures }) {
  const { columns, rows } = figures;
  return (
    <Table label={label}>
      <THead>
        {columns.map(({ label: name, unit }) => (
          <Th key={name} className={unit ? 'text-right' : undefined}>
            {name}
          </Th>
        ))}
      </THead>
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
                      : 'h-8 px-3 text-muted'
                  }
                >
                  {written(cell, column)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function written(cell: Cell, { unit }: Column): string {
  if (cell === null) return '–';
  return typeof cell === 'number' && unit ? formatFigure(cell, unit, { exact: true }) : String(cell);
}
