import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections and to `listen(0)` (from 32768 on Linux, from 49152 elsewhere):
 * none of those takes it before it is used.
 */
const FIRST = 20_000;
const LAST = 32_767;
const TRIES = 100;

/** Returns a free TCP port of 127.0.0.1. Throws an Error if a hundred in a row are taken. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port of 127.0.0.1 was found between ${FIRST} and ${LAST}.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
