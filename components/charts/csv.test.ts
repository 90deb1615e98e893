import { expect, test } from 'vitest';
import { toCsv } from './csv.ts';

test('the file contains the exact numbers', () => {
  const csv = toCsv({
    columns: [
      { label: 'Day' },
      { label: 'Runs', unit: 'count' },
      { label: 'Credits', unit: 'credits' },
      { label: 'p95', unit: 'duration' },
    ],
    rows: [
      ['2026-03-09', 12_345, 1_204_506_789, null],
      ['2026-03-10', 0, -1, 83.5],
    ],
  });
  expect(csv).toBe(
    'Day,Runs,Credits (microcredits),p95 (ms)\r\n2026-03-09,12345,1204506789,\r\n2026-03-10,0,-1,83.5\r\n',
  );
});

test.each([
  ['a, "quoted" name', '"a, ""quoted"" name"'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK("http://x")', '"\'=HYPERLINK(""http://x"")"'],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
])('the name %j is quoted, and cannot run as a formula', (name, written) => {
  expect(toCsv({ columns: [{ label: 'Workflow' }], rows: [[name]] })).toBe(`Workflow\r\n${written}\r\n`);
});
