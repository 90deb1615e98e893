import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const module = new URL('leave.ts', import.meta.url).href;

/** Returns the exit code of a process that leaves while something keeps its event loop busy, or nothing does. */
async function codeOf(rest: string): Promise<number | null> {
  const script = `import { leave } from '${module}'; ${rest} leave(3);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  await once(child, 'close');
  return child.exitCode;
}

test('a process that leaves ends with its code, whether its event loop is empty or never will be', async () => {
  expect(await codeOf('')).toBe(3);
  expect(await codeOf('setInterval(() => undefined, 1_000);')).toBe(3);
});
