import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RunRef, StartRun } from '../../server/orchestrator/orchestrator.ts';
import type { Request, Response } from './orchestrator-process.ts';

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

/** A process that runs the orchestrator on `url`, asked over IPC, killed without warning. */
export class ControlledProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (outcome: string) => void>();
  #next = 1;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: Response) => {
      if (message.kind === 'answer') this.#settle(message.id, message.outcome);
    });
    child.on('exit', () => {
      for (const id of [...this.#waiting.keys()]) this.#settle(id, 'killed');
    });
  }

  /** Settles when it leads. */
  static async start(url: string): Promise<ControlledProcess> {
    const script = fileURLToPath(new URL('./orchestrator-process.ts', import.meta.url));
    const child = fork(script, [url], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const controlled = new ControlledProcess(child);
    const [first] = (await once(child, 'message')) as [Response];
    if (first.kind !== 'ready') throw new Error('the process answered before it was ready');
    return controlled;
  }

  /** `ok`, an error code, or `killed` when there was no answer. */
  startRun(run: StartRun): Promise<string> {
    return this.#ask({ kind: 'start', run });
  }

  complete(ref: RunRef, step: string, approved: boolean): Promise<string> {
    return this.#ask({ kind: 'complete', ref, step, approved });
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #ask(request: WithoutId<Request>): Promise<string> {
    const id = this.#next++;
    return new Promise(resolve => {
      this.#waiting.set(id, resolve);
      if (this.#child.connected) this.#child.send({ id, ...request });
      else this.#settle(id, 'killed');
    });
  }

  #settle(id: number, outcome: string): void {
    this.#waiting.get(id)?.(outcome);
    this.#waiting.delete(id);
  }
}
