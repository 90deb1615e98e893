import type { ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';

/** A process of the usual 0 gets three times the CPU. */
const NICENESS = 5;

/** Lets a process that only computes give way to the tests and journeys beside it, which also wait for much. */
export function giveWay({ pid }: ChildProcess): void {
  // There is none where it could not be started.
  if (pid !== undefined) setPriority(pid, NICENESS);
}
