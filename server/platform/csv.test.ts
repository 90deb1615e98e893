import { expect, test } from 'vitest';
import { type CsvColumn, writeCsv } from './csv.ts';

type Row = { name: string; amount: number | null };
const columns: CsvColumn<Row>[] = [
  ['name', row => row.name],
  ['amount', row => row.amount],
];

async function* pages(...all: Row[][]) {
  yield* all;
}

test('headings first, CRLF, and quotes where needed', async () => {
  const rows = [
    { name: 'plain', amount: 1 },
    { name: 'a "b", c\r\nd', amount: null },
  ];
  expect(await writeCsv(columns, pages(rows, [{ name: '', amount: -5 }]))).toBe(
    'name,amount\r\nplain,1\r\n"a ""b"", c\r\nd",\r\n,-5\r\n',
  );
  expect(await writeCsv(columns, pages())).toBe('name,amount\r\n');
});

test('text that a spreadsheet would run is escaped', async () => {
  const names = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'];
  const text = await writeCsv(columns, pages(names.map(name => ({ name, amount: 0 }))));
  for (const name of names) expect(text).toContain(`'${name}`);
  expect(text).not.toMatch(/^[=+\-@\t]/m);
});

test('one row too many is refused, with the limit', async () => {
  const rows = Array.from({ length: 3 }, (_, amount) => ({ name: 'x', amount }));
  expect((await writeCsv(columns, pages(rows), 3)).split('\r\n')).toHaveLength(5);
  await expect(writeCsv(columns, pages(rows, rows.slice(0, 1)), 3)).rejects.toMatchObject({
    status: 422,
    code: 'too_many_rows',
    message: expect.stringContaining('3 rows'),
  });
});
