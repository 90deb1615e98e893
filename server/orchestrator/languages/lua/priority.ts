import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Priorities of single threads, which only Linux supports: on other systems no thread id is known and no priority is
 * lowered. A script that computes for long then takes only CPU time that no other thread wants: without this, four
 * endless scripts on two cores made the whole service six times as slow.
 */

/** Returns the kernel's id of the calling thread; 0 on systems where threads have no separate priority. */
export function kernelThreadId(): number {
  if (process.platform !== 'linux') return 0;
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1)) || 0;
  } catch {
    return 0;
  }
}

/**
 * Sets the priority of a thread. Returns false if the thread is unknown or the change is not permitted: raising a
 * priority takes a privilege.
 */
export function setThreadPriority(thread: number, priority: 'low' | 'normal'): boolean {
  if (thread === 0) return false;
  try {
    setPriority(thread, constants.priority[priority === 'low' ? 'PRIORITY_LOW' : 'PRIORITY_NORMAL']);
    return true;
  } catch {
    return false;
  }
}
