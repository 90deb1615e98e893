import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { TenantQueue } from '../../../orchestrator/languages/lua/queue.ts';
import { compileCacheOfThisProcess } from '../../../platform/compile-cache.ts';
import { AppError } from '../../../platform/errors.ts';

/** A message of a process that reads YAML. */
export type YamlAnswer = { kind: 'ready' } | { kind: 'read'; json: string } | { kind: 'refused'; message: string };

/** A value as JSON text, or the reason why the text has no JSON value. */
export type YamlText = { ok: true; json: string } | { ok: false; message: string };

type Waiting = { text: string; settle: (read: YamlText) => void; reject: (error: unknown) => void };

/** Twice the limit of a document's text: escaping can make JSON longer than YAML. */
export const MAX_DOCUMENT_JSON_CHARACTERS = 2 * 1024 * 1024;
/** 1 MiB of an exported workflow takes 0.5 s; 200 KB of quotation marks took 36 s. */
const MAX_READ_MS = 1_800;
const MAX_START_MS = 10_000;
const MAX_HEAP_MIB = 256;
const MAX_PROCESSES = 2;
/** The maximum number of texts of a tenant: one that is read, and those that wait. */
const MAX_PER_TENANT = 4;

/**
 * Reads YAML in separate processes, one process for each text. The library is slow, and 1 MiB of `{},` fills any heap.
 * A thread is not enough: V8 ends the whole process when the heap of a thread is full. The process is ended when its
 * time or its memory is used up. Two processes run at a time, at most one for each tenant; a few further texts of a
 * tenant may wait.
 */
export class YamlReaders {
  readonly #waiting = new TenantQueue<Waiting>();
  readonly #counts = new Map<string, number>();
  readonly #served = new Set<string>();

  /** The number of processes alive. */
  get processes(): number {
    return this.#served.size;
  }

  /** Reads a text. Throws AppError 429 if too many texts of the tenant have not been read yet. */
  async read(tenant: string, text: string): Promise<YamlText> {
    const count = this.#counts.get(tenant) ?? 0;
    if (count >= MAX_PER_TENANT) {
      throw new AppError(429, 'too_many_imports', 'Other documents of this workspace are still being read.', {
        headers: { 'Retry-After': '2' },
      });
    }
    this.#counts.set(tenant, count + 1);
    try {
      return await new Promise<YamlText>((settle, reject) => {
        this.#waiting.push(tenant, { text, settle, reject });
        this.#next();
      });
    } finally {
      const left = (this.#counts.get(tenant) ?? 1) - 1;
      if (left > 0) this.#counts.set(tenant, left);
      else this.#counts.delete(tenant);
    }
  }

  #next(): void {
    if (this.#served.size >= MAX_PROCESSES) return;
    const tenant = this.#waiting.next(name => !this.#served.has(name));
    if (tenant === undefined) return;
    const [waiting] = this.#waiting.take(tenant, 1, 1);
    if (!waiting) return;
    this.#served.add(tenant);
    readApart(waiting.text)
      .then(waiting.settle, waiting.reject)
      .finally(() => {
        this.#served.delete(tenant);
        this.#next();
      });
  }
}

async function readApart(text: string): Promise<YamlText> {
  // The process gets no other environment variables, so it cannot leak them.
  const child = fork(fileURLToPath(new URL('./yaml-process.ts', import.meta.url)), [], {
    env: { NODE_ENV: 'production', ...compileCacheOfThisProcess() },
    execArgv: [`--max-old-space-size=${MAX_HEAP_MIB}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  try {
    return await answerOf(child, text);
  } finally {
    child.kill('SIGKILL');
  }
}

function answerOf(child: ChildProcess, text: string): Promise<YamlText> {
  return new Promise((settle, reject) => {
    let timer = setTimeout(() => reject(new Error('the process that reads YAML did not start')), MAX_START_MS);
    let isReading = false;
    child.on('message', (answer: YamlAnswer) => {
      clearTimeout(timer);
      switch (answer.kind) {
        case 'ready':
          isReading = true;
          timer = setTimeout(() => settle({ ok: false, message: 'takes too long to read' }), MAX_READ_MS);
          child.send(text, error => error && settle({ ok: false, message: 'cannot be read' }));
          return;
        case 'read':
          settle({ ok: true, json: answer.json });
          return;
        case 'refused':
          settle({ ok: false, message: answer.message });
      }
    });
    child.once('error', reject);
    child.once('exit', code => {
      clearTimeout(timer);
      // V8 ends the process when its heap is full.
      if (isReading) settle({ ok: false, message: 'takes too much memory to read' });
      else reject(new Error(`the process that reads YAML ended with ${code}`));
    });
  });
}
