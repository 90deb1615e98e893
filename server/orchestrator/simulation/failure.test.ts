import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BROKEN_ENGINES } from './broken-engines.ts';
import { describeFailure } from './failure.ts';
import { FULL } from './scenario.ts';
import { simulate } from './simulate.ts';

describe('a failing seed', () => {
  test('is described by its violation, how to replay it, the least that makes it fail, and its logs', () => {
    const broken = BROKEN_ENGINES.find(({ name }) => name === 'ends a step twice')?.options;
    const failing = Array.from({ length: 50 }, (_, seed) => seed).find(seed => throws(() => simulate(seed, broken)));
    if (failing === undefined) throw new Error('no seed fails');
    const text = describeFailure(failing, new Error('first seen'), broken);
    expect(text).toContain(`Seed ${failing} breaks a guarantee: one-end: step_completed for`);
    expect(text).toContain(`--seed ${failing} --runs 1`);
    expect(text).toMatch(/ {2}1 +\d+ ms {2}run_started {/);
    const knobs = JSON.parse(/Smallest: (.*)/.exec(text)?.[1] ?? '{}');
    expect(throws(() => simulate(failing, { ...broken, knobs }))).toBe(true);
    expect(knobs.faults + knobs.commands).toBeLessThan(FULL.faults + FULL.commands);
  });
});

describe('node server/orchestrator/simulation/run.ts', () => {
  const cli = (...args: string[]) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('./run.ts', import.meta.url)), ...args], { encoding: 'utf8' });

  test('says what it simulated', () => {
    const { status, stdout } = cli('--seed', '7', '--runs', '5');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^5 seeds held: \d+ runs \(\d+ completed, \d+ failed, \d+ stopped\), \d+ events/);
  });

  test('refuses what is no number', () => {
    const { status, stderr } = cli('--seed', 'x');
    expect(status).toBe(2);
    expect(stderr).toContain('--seed takes a whole number, not "x"');
  });
});

function throws(act: () => void): boolean {
  try {
    act();
    return false;
  } catch {
    return true;
  }
}
