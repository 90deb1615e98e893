import { Worker } from 'node:worker_threads';
import { type AppError, invalid } from '../../../platform/errors.ts';
import type { YamlRead } from './yaml.ts';

/** 1 MiB of ordinary YAML takes 5 s on a slow core; 200 KB of quotation marks took 36 s. */
const longestReadMs = 15_000;

/**
 * Reads JSON or YAML text into a JSON value. Throws AppError 422 for text that is neither, or that takes too long. YAML is
 * read in a thread of its own that is ended when its time or memory is up: the library is slow enough to hold up
 * everybody else on the event loop.
 */
export async function readDocumentText(text: string): Promise<unknown> {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return readYamlApart(text);
  }
}

async function readYamlApart(text: string): Promise<unknown> {
  const done = Promise.withResolvers<unknown>();
  const worker = new Worker(new URL('./yaml-worker.ts', import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const timer = setTimeout(() => done.reject(malformed('takes too long to read')), longestReadMs);
  worker.once('message', (read: YamlRead) =>
    read.ok ? done.resolve(read.value) : done.reject(malformed(read.message)),
  );
  worker.once('error', (error: Error & { code?: string }) =>
    done.reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? malformed('takes too much memory to read') : error),
  );
  try {
    return await done.promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function malformed(message: string): AppError {
  return invalid('The document is neither JSON nor YAML that can be read.', [{ path: 'document', message }]);
}
