import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { breakEngine } from './break-engine.ts';
import { MUTATIONS, type Mutation, SAMPLED_MUTATIONS } from './mutations.ts';

const readSource = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

test('every sampled way to break the engine is noticed by one of the checkers that it names', async () => {
  const { noticed, unnoticed } = await breakEngine(SAMPLED_MUTATIONS);
  console.log(noticed.join('\n'));
  expect(unnoticed).toEqual([]);
}, 1_200_000);

test('the sample names every checker that a mutation names', () => {
  const checkers = (mutations: readonly Mutation[]) =>
    [...new Set(mutations.flatMap(({ caughtBy }) => caughtBy))].sort();
  expect(checkers(SAMPLED_MUTATIONS)).toEqual(checkers(MUTATIONS));
});

test('the text that each mutation replaces occurs once in its file', () => {
  const isLost = ({ file, find }: Mutation) => readSource(`../${file}`).split(find).length !== 2;
  expect(MUTATIONS.filter(isLost).map(({ name }) => name)).toEqual([]);
});

test('docs/testing.md lists every mutation, and the pages that count them are right', () => {
  const page = readSource('../../../docs/testing.md');
  const listed = [...page.matchAll(/^\| (.+?) \| `(.+?)` \|/gm)].map(([, name = '']) => name);
  expect(listed.filter(name => MUTATIONS.some(mutation => mutation.name === name))).toEqual(
    MUTATIONS.map(({ name }) => name),
  );
  const contributing = readSource('../../../CONTRIBUTING.md');
  for (const text of [page, contributing]) expect(text).toContain(`${MUTATIONS.length} ways`);
});
