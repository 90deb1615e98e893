import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { testSeed } from '../../testing/seed.ts';
import { EXPECTED, GROWN_HISTORY } from './coverage.ts';
import { describeLogs } from './failure.ts';
import { giveWay } from './give-way.ts';
import { simulate } from './simulate.ts';

/**
 * Half of the runs start from seed 1, half from a distant one, which BATON_TEST_SEED moves. `npm
 * run simulate` draws new ones.
 */
const RUNS = 20_000;

/** `npm run simulate` without npm, in a separate process, so that it uses its own core. */
function cli(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./run.ts', import.meta.url)), ...args]);
  giveWay(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', text => (stdout += text));
  child.stderr.on('data', text => (stderr += text));
  return new Promise(resolve => child.on('close', status => resolve({ status, stdout, stderr })));
}

describe('simulation', () => {
  test(`no guarantee is broken in ${RUNS} runs, in any order of events and faults`, async () => {
    const distant = String(testSeed * 1_000_000);
    const halves = await Promise.all([
      cli('--seed', '1', '--runs', String(RUNS / 2)),
      cli('--seed', distant, '--runs', String(RUNS / 2)),
    ]);
    const met = new Map<string, number>();
    let seeds = 0;
    for (const { status, stdout, stderr } of halves) {
      expect(stderr).toBe('');
      expect(status).toBe(0);
      console.log(stdout.trim().split('\n').at(-1));
      for (const [, times, what] of stdout.matchAll(/^ +(\d+) {2}(.*)$/gm))
        met.set(what ?? '', (met.get(what ?? '') ?? 0) + Number(times));
      seeds += Number(/^(\d+) seeds held/m.exec(stdout)?.[1]);
    }
    // A simulation proves nothing about a case that it never meets.
    expect(EXPECTED.filter(what => !met.has(what))).toEqual([]);
    expect((met.get(GROWN_HISTORY) ?? 0) / seeds).toBeGreaterThan(0.5);
  }, 1_800_000);

  test('the same seed gives the same history, and another seed a different one', async () => {
    const historyOf = async (seed: number) => {
      let text = '';
      await simulate(seed, {
        inspect: (runs, story) => {
          text = `${describeLogs(runs)}\n${story.join('\n')}`;
        },
      });
      return text;
    };
    for (let seed = 1; seed <= 30; seed++) expect(await historyOf(seed)).toBe(await historyOf(seed));
    expect(await historyOf(1)).not.toBe(await historyOf(2));
  });
});

describe('npm run simulate', () => {
  test('prints its first seed, the cases that it met and what it simulated', async () => {
    const { status, stdout } = await cli('--seed', '7', '--runs', '5');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^from seed 7 on\n/);
    expect(stdout).toMatch(/ {2}start answered\n/);
    expect(stdout).toMatch(
      /\d+ seeds held: \d+ runs, \d+ events, \d+ processes; \d+ runs\/s, \d+ runs in a second of CPU\n$/,
    );
  });

  test('refuses arguments that are not numbers', async () => {
    const { status, stderr } = await cli('--seed', 'x');
    expect(status).toBe(2);
    expect(stderr).toBe(
      "baton: option '--seed <number>' argument 'x' is invalid. It takes a whole number.\nSee npm run simulate -- --help.\n",
    );
  });
});
