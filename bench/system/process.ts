import { type ChildProcess, fork } from 'node:child_process';
import { memoryBytes } from '../meter.ts';
import type { Figures, Order, Report } from './system.ts';

const SAMPLE_MS = 500;

/** The benchmark's handle of the process that runs a system under test. */
export class SystemProcess {
  readonly name: string;
  readonly versions: Record<string, string>;
  readonly workloads: readonly string[];
  readonly #child: ChildProcess;
  readonly #processes: readonly number[];

  private constructor(name: string, child: ChildProcess, opened: Extract<Report, { kind: 'open' }>) {
    this.name = name;
    this.#child = child;
    this.versions = opened.versions;
    this.#processes = opened.processes;
    this.workloads = opened.workloads;
  }

  /** Starts `file`, which calls `serve`, with the Node flags `flags`. Throws with its output if the system cannot be opened. */
  static async open(
    name: string,
    file: string,
    env: Record<string, string>,
    flags: readonly string[] = [],
  ): Promise<SystemProcess> {
    const child = fork(file, [], {
      execArgv: [
        ...flags,
        '--expose-gc',
        '--disable-warning=ExperimentalWarning',
        '--disable-warning=DeprecationWarning',
      ],
      env: { ...process.env, NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const answer = await nextReport(child);
    if (answer.kind !== 'open') throw new Error(answer.kind === 'failed' ? answer.message : `${name} did not open.`);
    return new SystemProcess(name, child, answer);
  }

  /** Runs one repetition. Adds the peak memory of all the system's processes, sampled twice a second from outside. */
  async run(order: Extract<Order, { kind: 'run' }>): Promise<Figures> {
    let peak = 0;
    const sample = () => {
      peak = Math.max(peak, memoryBytes(this.#processes));
    };
    const sampling = setInterval(sample, SAMPLE_MS);
    try {
      this.#child.send(order satisfies Order);
      const answer = await nextReport(this.#child);
      sample();
      if (answer.kind !== 'figures') throw new Error(answer.kind === 'failed' ? answer.message : 'No figures came.');
      return { ...answer.figures, 'peak MiB': peak / 2 ** 20 };
    } finally {
      clearInterval(sampling);
    }
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise<void>(resolve => this.#child.once('exit', () => resolve()));
    this.#child.send({ kind: 'close' } satisfies Order);
    await exited;
  }
}

function nextReport(child: ChildProcess): Promise<Report> {
  return new Promise((resolve, reject) => {
    const removeListeners = () => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      child.off('error', reject);
    };
    const onMessage = (message: Report) => {
      removeListeners();
      resolve(message);
    };
    const onExit = (code: number | null, signal: string | null) => {
      removeListeners();
      reject(new Error(`The system's process ended: ${code ?? signal}`));
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
    child.once('error', reject);
  });
}
