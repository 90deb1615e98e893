import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { generatePatToken } from '../../server/domains/identity/pats/token.ts';
import type { Graph } from '../../server/orchestrator/core/index.ts';
import { withDatabase } from '../../server/platform/postgres/cluster.ts';
import { startTestCluster } from '../../server/testing/postgres-cluster.ts';
import type {
  ChatOrder,
  ChatReport,
  LoadOrder,
  LoadReport,
  ServerAnswer,
  ServerRequest,
  SocketsOrder,
  SocketsReport,
} from './protocol.ts';

/** CPU seconds so far. */
export type Usage = { server: number; postgres: number };

/**
 * The service in a separate process, on a temporary PostgreSQL with fsync on, with an owner and a token that has every scope.
 * `BENCH_CPU_PROF=<folder>` writes the process's CPU profile to that folder when the service is closed.
 */
export class HttpService {
  readonly url: string;
  readonly token: string;
  readonly #process: ChildProcess;
  readonly #admin: pg.Client;
  readonly #postmaster: number;
  readonly #stopCluster: () => Promise<void>;

  private constructor(parts: {
    url: string;
    token: string;
    process: ChildProcess;
    admin: pg.Client;
    postmaster: number;
    stopCluster: () => Promise<void>;
  }) {
    this.url = parts.url;
    this.token = parts.token;
    this.#process = parts.process;
    this.#admin = parts.admin;
    this.#postmaster = parts.postmaster;
    this.#stopCluster = parts.stopCluster;
  }

  /**
   * `env`: settings of the service in addition to those of the measurements (no rate limit, a
   * high limit of active runs).
   */
  static async open(env: Record<string, string> = {}): Promise<HttpService> {
    process.env.BATON_TEST_FSYNC = '1';
    const cluster = await startTestCluster();
    const admin = new pg.Client({ connectionString: cluster.url });
    await admin.connect();
    await admin.query('CREATE DATABASE bench');
    const { rows } = await admin.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const postmaster = processStat(rows[0]?.pid ?? 0)?.parent ?? 0;
    const token = generatePatToken();
    const child = launch('server-process.ts', {
      NODE_ENV: 'production',
      PORT: '0',
      DATABASE_URL: withDatabase(cluster.url, 'bench'),
      BATON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      BATON_OWNER_EMAIL: 'bench@example.com',
      BATON_OWNER_PASSWORD: 'correct horse battery staple',
      BATON_PAT: token,
      BATON_SEED: 'none',
      BATON_LOG_LEVEL: 'warn',
      BATON_RATE_LIMIT_PER_MINUTE: '0',
      BATON_MAX_ACTIVE_RUNS_PER_TENANT: '10000000',
      ...env,
    });
    const { url } = await answerOf(child, 'listening');
    return new HttpService({ url, token, process: child, admin, postmaster, stopCluster: cluster.stop });
  }

  /** Publishes a workflow with this graph; returns its id. */
  async publish(name: string, graph: Graph): Promise<string> {
    const { id } = (await this.#call('/v1/workflows', { name, graph })) as { id: string };
    await this.#call(`/v1/workflows/${id}/versions`, { changelog: '' });
    return id;
  }

  /** Sends a load of requests from a separate process. Throws unless all of them were answered 200. */
  async load(order: Omit<LoadOrder, 'url' | 'token'>): Promise<LoadReport> {
    const full: LoadOrder = { ...order, url: this.url, token: this.token };
    const report = await delegate<LoadReport>('load-process.ts', full);
    if (report.statuses['200'] === order.requests) return report;
    throw new Error(`Not every request was answered 200: ${JSON.stringify(report.statuses)}`);
  }

  /** Watches a workflow through many sockets, and starts runs that they see. */
  watch(order: Omit<SocketsOrder, 'url' | 'token'>): Promise<SocketsReport> {
    return delegate<SocketsReport>('sockets-process.ts', { ...order, url: this.url, token: this.token });
  }

  /** Chats with a model that the client's process provides (needs BATON_ALLOW_PRIVATE_NETWORK in `env`). */
  chat(order: Omit<ChatOrder, 'url' | 'token'>): Promise<ChatReport> {
    return delegate<ChatReport>('chat-process.ts', { ...order, url: this.url, token: this.token });
  }

  /** Returns when the service learned of each commit since the last call (needs `BENCH_STAMPS=1` in `env`). */
  async stamps(): Promise<Map<string, number>> {
    this.#ask('stamps');
    return new Map((await answerOf(this.#process, 'stamps')).stamps);
  }

  async usage(): Promise<Usage> {
    this.#ask('usage');
    const { cpuSeconds } = await answerOf(this.#process, 'usage');
    return { server: cpuSeconds, postgres: treeCpuSeconds(this.#postmaster) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async close(): Promise<void> {
    this.#ask('stop');
    await once(this.#process, 'exit');
    await this.#admin.end();
    await this.#stopCluster();
  }

  #ask(ask: ServerRequest['ask']): void {
    this.#process.send({ ask } satisfies ServerRequest);
  }

  async #call(path: string, body: unknown): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}

function launch(file: string, env: Record<string, string> = {}): ChildProcess {
  const profile = process.env.BENCH_CPU_PROF;
  const profiled = profile !== undefined && file === 'server-process.ts';
  return fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...process.env, ...env },
    execArgv: profiled ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [],
  });
}

/** Passes an order to a new process, and returns its answer. */
async function delegate<Report>(file: string, order: LoadOrder | SocketsOrder | ChatOrder): Promise<Report> {
  const child = launch(file);
  child.send(order);
  return new Promise((resolve, reject) => {
    child.once('message', report => resolve(report as Report));
    child.once('exit', code => reject(new Error(`${file} ended with exit code ${code}`)));
  });
}

function answerOf<K extends ServerAnswer['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<ServerAnswer, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the service ended with exit code ${code}`));
    child.once('exit', onExit);
    child.on('message', function listener(answer) {
      const { kind: found } = answer as ServerAnswer;
      if (found !== kind) return;
      child.off('exit', onExit);
      child.off('message', listener);
      resolve(answer as Extract<ServerAnswer, { kind: K }>);
    });
  });
}

/** Reads /proc/<pid>/stat: the parent, and utime + stime (own, and of reaped children) in ticks of 10 ms. */
function processStat(pid: number): { parent: number; own: number; reaped: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const ticks = (at: number) => Number(fields[at]);
    return { parent: ticks(1), own: ticks(11) + ticks(12), reaped: ticks(13) + ticks(14) };
  } catch {
    return null; // ended, or a system without /proc
  }
}

/** Returns the CPU seconds of PostgreSQL: the postmaster, its children, and those that have ended; 0 without /proc. */
function treeCpuSeconds(postmaster: number): number {
  const root = processStat(postmaster);
  if (root === null) return 0;
  let ticks = root.own + root.reaped;
  for (const path of globSync('/proc/[0-9]*')) {
    const stat = processStat(Number(path.slice('/proc/'.length)));
    if (stat?.parent === postmaster) ticks += stat.own;
  }
  return ticks / 100;
}
