import type { LuaJob } from './protocol.ts';
import type { LuaData } from './sandbox.ts';

/** What a script is given, made when a worker is free: thousands may wait, each reading megabytes. */
export type MakeData = () => LuaData;

/** What is to be run in a worker; `data` null = compile only. */
export type Work =
  | { language: 'lua'; script: string; data: MakeData | null }
  | { language: 'cel'; script: string; data: MakeData };

/** Makes the data of a piece of work. Throws what that throws. */
export function jobOf(work: Work): LuaJob {
  const { script } = work;
  if (work.language === 'cel') return { language: 'cel', script, data: work.data() };
  return { language: 'lua', script, data: work.data?.() ?? null };
}
