import { spawn } from 'node:child_process';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A temporary folder for the data of one system. When this process ends in any way, the processes passed to `own` are
 * killed, a PostgreSQL in the folder is stopped, and the folder is removed.
 */
export class Folder {
  readonly path: string;
  readonly #reaper;

  private constructor(path: string) {
    this.path = path;
    this.#reaper = spawn(process.execPath, [fileURLToPath(new URL('./reaper.ts', import.meta.url)), path], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.#reaper.unref();
  }

  static async make(): Promise<Folder> {
    const path = await mkdtemp(join(tmpdir(), 'baton-bench-'));
    await chmod(path, 0o755);
    return new Folder(path);
  }

  own(pid: number): void {
    this.#reaper.stdin.write(`${pid}\n`);
  }

  async remove(): Promise<void> {
    const reaped = new Promise<void>(resolve => this.#reaper.once('exit', () => resolve()));
    this.#reaper.ref();
    this.#reaper.stdin.end();
    await reaped;
  }
}
