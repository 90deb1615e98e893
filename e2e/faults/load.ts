import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { newId } from '../../server/platform/ids.ts';
import type { Client } from './client.ts';
import { approves, graphs, INPUTS } from './graphs.ts';
import type { Random } from './random.ts';
import { Watcher } from './watcher.ts';

/** The commands about a run that the service acknowledged, and must therefore have executed. */
export type Acknowledged = {
  runId: string;
  graph: string;
  n: number;
  started: boolean;
  paused: boolean;
  resumed: boolean;
  /** The mode of a stop that was answered with 200. */
  stopped: 'immediate' | 'graceful' | null;
  /** Whether a stop was requested, acknowledged or not: the ending may then differ from the undisturbed one. */
  mayBeStopped: boolean;
  /** Steps whose human tasks were answered. */
  answered: Set<string>;
};

type Definite = { status: number; tries: number };

/** Callers that start, control, answer and watch runs through the API until they are stopped. */
export class Load {
  readonly acknowledged = new Map<string, Acknowledged>();
  readonly watchers: Watcher[] = [];
  readonly client: Client;
  readonly #workflows: ReadonlyMap<string, string>;
  readonly #random: Random;
  readonly #callers: Promise<void>[];
  readonly #inbox: Promise<void>;
  #refusals = 0;
  #ceased = false;
  #closed = false;

  /** `workflows`: the ids by the names of `graphs`. Starts immediately. */
  constructor(client: Client, workflows: ReadonlyMap<string, string>, random: Random, callers = 6) {
    this.client = client;
    this.#workflows = workflows;
    this.#random = random;
    this.#callers = Array.from({ length: callers }, () => this.#call());
    this.#inbox = this.#answerTasks();
  }

  get started(): number {
    return [...this.acknowledged.values()].filter(({ started }) => started).length;
  }

  /** Returns whether any request has been answered with 503 since the last call. */
  refused(): boolean {
    const refusals = this.client.answered.get(503) ?? 0;
    const more = refusals > this.#refusals;
    this.#refusals = refusals;
    return more;
  }

  /** Settles when `more` further starts have been acknowledged. */
  async progress(more: number, withinMs = 60_000): Promise<void> {
    const goal = this.started + more;
    const deadline = performance.now() + withinMs;
    while (this.started < goal) {
      if (performance.now() > deadline) throw new Error(`no progress: ${this.started} of ${goal} starts`);
      await delay(10);
    }
  }

  /** Starts no new runs, and waits until every run has ended. Throws if runs are stuck, with their logs. `pool` is the test's own. */
  async finish(pool: Pool, withinMs = 90_000): Promise<void> {
    this.#ceased = true;
    await Promise.all(this.#callers);
    const deadline = performance.now() + withinMs;
    const open = async () =>
      (await pool.query<{ id: string; status: string }>('SELECT id, status FROM runs WHERE ended_at IS NULL')).rows;
    while ((await open()).length > 0 && performance.now() < deadline) await delay(50);
    this.#closed = true;
    await this.#inbox;
    await Promise.all(this.watchers.map(watcher => watcher.ended(25_000)));
    const stuck = (await open())[0];
    if (stuck === undefined) return;
    const log = await pool.query(
      'SELECT seq, event_type, step_id, data FROM expanded_run_events WHERE run_id = $1 ORDER BY seq',
      [stuck.id],
    );
    throw new Error(`run ${stuck.id} is stuck in ${stuck.status}:\n${JSON.stringify(log.rows, null, 1)}`);
  }

  /** Stops all callers without waiting for their answers, because the test has failed. */
  abandon(): void {
    this.#ceased = true;
    this.#closed = true;
    for (const watcher of this.watchers) watcher.close();
  }

  async #call(): Promise<void> {
    while (!this.#ceased) {
      await this.#oneRun();
      await delay(this.#random.between(20, 120));
    }
  }

  async #oneRun(): Promise<void> {
    const names = Object.keys(graphs);
    const graph = names[this.#random.between(0, names.length - 1)] ?? 'chain';
    const known: Acknowledged = {
      runId: newId(),
      graph,
      n: this.#random.between(0, INPUTS - 1),
      started: false,
      paused: false,
      resumed: false,
      stopped: null,
      mayBeStopped: false,
      answered: new Set(),
    };
    this.acknowledged.set(known.runId, known);
    const lot = this.#random.next();
    if (lot < 0.3 && this.watchers.filter(({ isFollowing }) => isFollowing).length < 10)
      this.watchers.push(new Watcher(this.client, this.#workflow(known), known.runId));
    await this.#start(known, this.#random.next() < 0.5);
    if (lot > 0.85) await this.#pauseAndResume(known);
    else if (lot > 0.75) await this.#stop(known, lot > 0.8 ? 'immediate' : 'graceful');
  }

  async #start(known: Acknowledged, withKey: boolean): Promise<void> {
    const params = { run_id: known.runId, n: known.n };
    const headers: Record<string, string> = withKey ? { 'Idempotency-Key': known.runId } : {};
    const { status, tries } = await this.#retry(known, { command: 'start', params }, headers);
    // If an earlier try has used the id, the start was committed and its answer was lost.
    if (status === 200 || (status === 409 && tries > 1 && !withKey)) known.started = true;
    else this.client.violations.push(`the start of ${known.runId} was answered ${status} at try ${tries}`);
  }

  async #pauseAndResume(known: Acknowledged): Promise<void> {
    await delay(this.#random.between(0, 20));
    const params = { run_id: known.runId };
    known.paused = (await this.#retry(known, { command: 'pause', params })).status === 200;
    await delay(this.#random.between(0, 100));
    known.resumed = (await this.#retry(known, { command: 'resume', params })).status === 200;
  }

  async #stop(known: Acknowledged, mode: 'immediate' | 'graceful'): Promise<void> {
    await delay(this.#random.between(0, 20));
    known.mayBeStopped = true;
    const { status } = await this.#retry(known, { command: 'stop', params: { run_id: known.runId, mode } });
    if (status === 200) known.stopped = mode;
  }

  /** Repeats a request until it is answered with 2xx or 409. Any other answer except 503 is a violation. */
  async #retry(known: Acknowledged, body: unknown, headers: Record<string, string> = {}): Promise<Definite> {
    for (let tries = 1; !this.#closed; tries++) {
      const path = `/v1/workflows/${this.#workflow(known)}/command`;
      const { status, body: answer } = await this.client.call('POST', path, body, headers);
      if (status === 200 || status === 409) return { status, tries };
      if (status !== 0 && status !== 503) {
        this.client.violations.push(`${JSON.stringify(body)} was answered ${status} ${JSON.stringify(answer)}`);
        return { status, tries };
      }
      // Without a delay, the requests during an outage would take CPU from the service's recovery.
      await delay(this.#random.between(20, 80) * Math.min(tries, 4));
    }
    return { status: 0, tries: 0 };
  }

  async #answerTasks(): Promise<void> {
    while (!this.#closed) {
      const { status, body } = await this.client.call('GET', '/v1/tasks/pending?limit=200');
      const tasks = status === 200 ? (body.tasks as { run_id: string; task_id: string; workflow_id: string }[]) : [];
      await Promise.all(tasks.slice(0, 20).map(task => this.#answer(task)));
      await delay(100);
    }
  }

  async #answer(task: { run_id: string; task_id: string; workflow_id: string }): Promise<void> {
    const known = this.acknowledged.get(task.run_id);
    if (known === undefined) return;
    const path = `/v1/workflows/${task.workflow_id}/runs/${task.run_id}/tasks/${task.task_id}/complete`;
    const { status, body } = await this.client.call('POST', path, {
      approved: approves(known.n),
      result: { note: 'ok' },
    });
    if (status === 200) known.answered.add(task.task_id);
    else if (status !== 0 && status !== 503 && status !== 409)
      this.client.violations.push(`the answer to ${path} was answered ${status} ${JSON.stringify(body)}`);
  }

  #workflow({ graph }: Acknowledged): string {
    const id = this.#workflows.get(graph);
    if (id === undefined) throw new Error(`no workflow ${graph}`);
    return id;
  }
}
