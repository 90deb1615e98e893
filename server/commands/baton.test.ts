import { describe, expect, test } from 'vitest';
import { runBaton } from '../testing/commands.ts';

const names = [
  'doctor',
  'billing',
  'analytics',
  'retention',
  'workspaces',
  'accounts',
  'migrate',
  'rotate-master-key',
  'backup',
];

test('lists its commands, with exit code 1 if none is named', async () => {
  const help = await runBaton(['--help'], {});
  expect(help).toMatchObject({ code: 0, err: '' });
  for (const name of [...names, 'restore', 'move']) expect(help.out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  expect(await runBaton([], {})).toEqual({ code: 1, out: '', err: help.out });
  expect(await runBaton(['bill'], {})).toEqual({
    code: 1,
    out: '',
    err: "baton: unknown command 'bill' (Did you mean billing?)\nSee npm run baton -- --help.\n",
  });
});

describe.each(names)('%s', name => {
  test('answers --help, and refuses an unknown option with one line and a hint', async () => {
    const help = await runBaton([name, '--help'], {});
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toMatch(new RegExp(`^Usage: npm run baton -- ${name} \\[`));
    const { code, out, err } = await runBaton([name, '--colour'], {});
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(`baton: unknown option '--colour'\nSee npm run baton -- ${name} --help.\n`);
  });
});

test('a subcommand answers --help without a database', async () => {
  const { code, out } = await runBaton(['billing', 'payments', 'refund', '--help'], { BATON_DATA_DIR: '/nowhere' });
  expect(code).toBe(0);
  expect(out).toMatch(/^Usage: npm run baton -- billing payments refund \[options\] <id>/);
  expect(out).toContain('--amount <minor units>');
});
