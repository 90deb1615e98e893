import type { Wanted } from './expression-job.ts';
import type { LuaJob } from './protocol.ts';
import type { LuaData } from './sandbox.ts';

/** Creates the data of a script when a worker is free: thousands of scripts may wait, each reading megabytes. */
export type MakeData = () => LuaData;

/** A script to run in a worker; `data` null = compile only. */
export type Work =
  | { language: 'lua'; script: string; data: MakeData | null }
  | { language: 'cel'; script: string; data: MakeData; wants: Wanted };

/** Creates the job of a piece of work, with its data. Throws the errors of `MakeData`. */
export function jobOf(work: Work): LuaJob {
  const { script } = work;
  if (work.language === 'cel') return { language: 'cel', script, data: work.data(), wants: work.wants };
  return { language: 'lua', script, data: work.data?.() ?? null };
}
