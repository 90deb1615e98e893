import type { ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';

/** The niceness of the simulation. A process with the default 0 gets three times the CPU time. */
const NICENESS = 5;

/**
 * Lowers the priority of a process that only computes below that of the tests and journeys that run beside it, which
 * often wait.
 */
export function giveWay({ pid }: ChildProcess): void {
  // The pid is undefined if the process could not be started.
  if (pid !== undefined) setPriority(pid, NICENESS);
}
