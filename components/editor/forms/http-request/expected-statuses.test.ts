import { expect, test } from 'vitest';
import { expectText, readExpected } from './expected-statuses.ts';

test('statuses are parsed and printed in the usual notation', () => {
  expect(readExpected('2xx, 404')).toEqual(['2xx', 404]);
  expect(readExpected('2XX 301,')).toEqual(['2xx', 301]);
  expect(readExpected(' ')).toBeUndefined();
  for (const wrong of ['20', '2xx, x', '600', '1xx']) expect(readExpected(wrong)).toBeNull();
  expect(readExpected(expectText(['2xx', 404]))).toEqual(['2xx', 404]);
  expect(expectText(undefined)).toBe('');
});
