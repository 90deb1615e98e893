import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { MUTATIONS } from './mutations.ts';

/** Most are noticed within ten seeds. */
const SEEDS = 1_500;

const mutant = fileURLToPath(new URL('./mutant.ts', import.meta.url));
const run = promisify(execFile);
type Noticed = { seed?: number; checker?: string; message?: string };

async function breakIt(index: number): Promise<Noticed> {
  const { stdout } = await run(process.execPath, [mutant, String(index), String(SEEDS)], { timeout: 300_000 });
  return JSON.parse(stdout);
}

test('every way to break the engine is noticed by a checker that is meant to', async () => {
  const waiting = MUTATIONS.map((_, index) => index);
  const noticed: string[] = [];
  const unnoticed: string[] = [];
  const worker = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      const mutation = MUTATIONS[index];
      if (mutation === undefined) continue;
      const { name, caughtBy } = mutation;
      const found = await breakIt(index);
      const line = `${name}: ${found.seed === undefined ? 'nobody' : `seed ${found.seed}, ${found.message?.slice(0, 120)}`}`;
      (caughtBy.includes(found.checker ?? '') ? noticed : unnoticed).push(line);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, worker));
  console.log(noticed.sort().join('\n'));
  expect(unnoticed).toEqual([]);
}, 600_000);

test('docs/reliability.md lists every mutation', () => {
  const page = readFileSync(new URL('../../../docs/reliability.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| (.+?) \| `(.+?)` \|/gm)].map(([, name = '']) => name);
  expect(listed.filter(name => MUTATIONS.some(mutation => mutation.name === name))).toEqual(
    MUTATIONS.map(({ name }) => name),
  );
});
