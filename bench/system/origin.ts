import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** An HTTP server to which the systems under test send requests. */
export type Origin = { url: string; close(): Promise<void> };

/** Starts the server in a separate child process, whose CPU and memory count for no system. */
export async function startOrigin(): Promise<Origin> {
  const child = fork(fileURLToPath(new URL('./origin-process.ts', import.meta.url)));
  const ended = once(child, 'exit');
  const failed = ended.then(([code]) => Promise.reject(new Error(`The HTTP server ended with exit code ${code}.`)));
  const [url] = await Promise.race([once(child, 'message'), failed]);
  return {
    url,
    async close() {
      child.disconnect();
      await ended;
    },
  };
}
