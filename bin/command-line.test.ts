import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<string, string>;
};
// The other scripts run tools that have their own command lines.
const ownScripts = Object.entries(scripts).filter(([, script]) => script.startsWith('node '));

/** Runs a script of package.json without npm. */
function runScript(script: string, ...args: string[]) {
  return new Promise<{ code: number; out: string; err: string }>(done => {
    execFile(process.execPath, [...script.split(' ').slice(1), ...args], { cwd: root }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

test('the scan finds the scripts', () => {
  expect(ownScripts.map(([name]) => name)).toEqual(
    expect.arrayContaining(['start', 'dev', 'test', 'bench', 'simulate', 'faults', 'fuzz', 'billing']),
  );
});

test.each(ownScripts)(
  'npm run %s supports --help, and refuses an unknown option with one line and a hint',
  async (_, script) => {
    const help = await runScript(script, '--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toMatch(/^Usage: npm /);
    const { code, out, err } = await runScript(script, '--colour');
    expect([1, 2]).toContain(code);
    expect(out).toBe('');
    expect(err).toMatch(/^baton: unknown option '--colour'\nSee npm [\w -]+ --help\.\n$/);
  },
);
