/** The maximum time that a process which has stopped stays for what is left in its event loop. */
const LINGER_MS = 200;

/**
 * Ends the process with this exit code: as soon as its event loop is empty, or after 200 ms. `process.exit` joins V8's
 * threads, and a thread that compiles code at that moment may wait for a garbage collection by the thread that joins it:
 * the process then stays forever (https://github.com/nodejs/node/issues/54918). In these 200 ms such a thread gets its
 * collection.
 */
export function leave(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(code), LINGER_MS).unref();
}
