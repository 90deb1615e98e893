import { expect, test } from 'vitest';
import { newId } from './ids.ts';
import { type CallerLineage, createLineageSeal, currentLineage, sealedLineage, withLineage } from './lineage.ts';

const seal = createLineageSeal(Buffer.alloc(32, 1));
const lineage: CallerLineage = { tenantId: 'acme', root: newId(), depth: 3 };

test('a sealed value can only be opened with the same key', () => {
  const sealed = seal.seal(lineage);
  expect(seal.open(sealed)).toEqual(lineage);
  expect(createLineageSeal(Buffer.alloc(32, 2)).open(sealed)).toBe(null);
});

test('a changed value is not opened, whichever character changes', () => {
  const sealed = seal.seal(lineage);
  for (let at = 0; at < sealed.length; at++) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    expect(seal.open(sealed.slice(0, at) + other + sealed.slice(at + 1)), `at ${at}`).toBe(null);
  }
});

test.each(['', '.', 'v1', 'v1.', 'v1..', 'a, b', `v1.${'x'.repeat(10_000)}.x`, '\u0000', 'v1.e30.e30'])(
  'an invention is not opened: %j',
  value => expect(seal.open(value)).toBe(null),
);

test('two values in one header are not opened', () => {
  const sealed = seal.seal(lineage);
  expect(seal.open(`${sealed}, ${sealed}`)).toBe(null);
});

test('work is done on behalf of the innermost run, or of none', async () => {
  expect(currentLineage()).toBe(null);
  expect(sealedLineage(seal)).toBe(null);
  await withLineage(lineage, async () => {
    await Promise.resolve();
    expect(currentLineage()).toEqual(lineage);
    expect(seal.open(sealedLineage(seal) ?? '')).toEqual(lineage);
    withLineage({ ...lineage, depth: 4 }, () => expect(currentLineage()?.depth).toBe(4));
    withLineage(null, () => expect(sealedLineage(seal)).toBe(null));
  });
  expect(currentLineage()).toBe(null);
});
