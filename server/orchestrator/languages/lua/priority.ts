import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Priorities of single threads, which Linux alone has: elsewhere nothing is known of a thread, and nothing is lowered. A
 * script that computes for long then takes only the CPU that nothing else wants: without that, four endless scripts on two
 * cores made the whole service six times as slow.
 */

/** The calling thread as the kernel knows it; 0 where threads have no priority of their own. */
export function kernelThreadId(): number {
  if (process.platform !== 'linux') return 0;
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1)) || 0;
  } catch {
    return 0;
  }
}

/** Returns false where it is not known or may not be changed: to raise a priority again takes a privilege. */
export function setThreadPriority(thread: number, priority: 'low' | 'normal'): boolean {
  if (thread === 0) return false;
  try {
    setPriority(thread, constants.priority[priority === 'low' ? 'PRIORITY_LOW' : 'PRIORITY_NORMAL']);
    return true;
  } catch {
    return false;
  }
}
