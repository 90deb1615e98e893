import { expect, test } from 'vitest';
import { copyName } from './copy-name.ts';

test.each([
  ['Orders', 'Orders copy'],
  ['Orders copy', 'Orders copy 2'],
  ['Orders copy 9', 'Orders copy 10'],
  ['Photocopy', 'Photocopy copy'],
  ['x'.repeat(200), `${'x'.repeat(195)} copy`],
  [`${'x'.repeat(195)} copy`, `${'x'.repeat(193)} copy 2`],
])('the copy of %s', (name, copy) => expect(copyName(name)).toBe(copy));
