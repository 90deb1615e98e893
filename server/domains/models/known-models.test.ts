import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knownModels } from './known-models.ts';

test.each(Object.entries(knownModels))('every model of %s is known to the SDK, and listed once', (provider, models) => {
  const declared = readFileSync(
    new URL(import.meta.resolve(`@ai-sdk/${provider}`).replace(/index\.js$/, 'index.d.ts')),
    'utf8',
  );
  const ids = models.map(({ id }) => id);
  expect(ids.filter(id => !declared.includes(`"${id}"`) && !declared.includes(`'${id}'`))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});
