import type { Graph } from '../core/index.ts';
import { Agenda } from './agenda.ts';
import { Violation } from './checkers/violation.ts';
import { Clients } from './clients.ts';
import { type Engine, engine as realEngine } from './engine.ts';
import { Log } from './log.ts';
import { Process } from './process.ts';
import { Random } from './random.ts';
import { FULL, type Knobs, randomGraph, randomStart } from './scenario.ts';
import { Work } from './work.ts';

/** Until then anything may happen (ms of virtual time); from then on everything must come to its end. */
const TROUBLE_ENDS = 15_000;
const HELP_EVERY = 5_000;
/** Enough for every retry of every step, one after the other. */
const HELP_AT_MOST = 2_000;

export type Options = {
  knobs?: Knobs;
  /** What is under test; all of these are right by default. */
  engine?: Engine;
  fenced?: boolean;
  acksEarly?: boolean;
  /** Called with the log as it is, also when the simulation fails. */
  inspect?: (log: Log) => void;
};

/** How the simulated runs ended, and how many events they wrote. */
export type Tally = {
  runs: number;
  events: number;
  processes: number;
  completed: number;
  failed: number;
  stopped: number;
};

/**
 * Simulates a few runs of random graphs, with commands, failures and crashes at random instants, all from one seed.
 * Throws a Violation as soon as a guarantee does not hold.
 */
export function simulate(seed: number, options: Options = {}): Tally {
  const world = new World(seed, options);
  try {
    return world.play();
  } finally {
    options.inspect?.(world.log);
  }
}

class World {
  readonly #random: Random;
  readonly #agenda = new Agenda();
  readonly #knobs: Knobs;
  readonly #options: Options;
  readonly #work: Work;
  readonly #clients: Clients;
  readonly #engine: Engine;
  readonly log: Log;
  #process: Process | undefined;
  #processes = 0;

  constructor(seed: number, options: Options) {
    this.#options = options;
    this.#knobs = options.knobs ?? FULL;
    this.#engine = options.engine ?? realEngine;
    this.#random = new Random(seed);
    this.log = new Log(this.#engine, options.fenced ?? true);
    this.#work = new Work(this.#agenda, this.#random, this.#knobs);
    this.#work.crash = () => this.#crash();
    this.#clients = new Clients(this.log, this.#agenda, this.#random, () => this.#process);
  }

  play(): Tally {
    this.#boot();
    const runs = 1 + this.#random.below(this.#knobs.runs);
    for (let index = 0; index < runs; index++) this.#planRun(`run${index}`);
    for (let fault = this.#random.below(this.#knobs.faults + 1); fault > 0; fault--) {
      this.#agenda.after(this.#anyTime(), () => this.#crash());
    }
    this.#agenda.after(TROUBLE_ENDS, () => this.#help(HELP_AT_MOST));
    while (this.#agenda.step());
    return this.#tally();
  }

  #planRun(id: string): void {
    const random = this.#random;
    const graph = randomGraph(random, this.#knobs.steps);
    const data = randomStart(random, graph);
    this.log.register(id, random.pick(['tenant-a', 'tenant-b']), graph);
    this.#agenda.after(random.below(100), () => this.#clients.start(id, data));
    for (let command = random.below(this.#knobs.commands + 1); command > 0; command--) {
      this.#agenda.after(this.#anyTime(), () => {
        this.#clients.anything(id);
        this.#nudgeSoon(id, graph);
      });
    }
    this.#agenda.after(this.#anyTime(), () => this.#nudgeSoon(id, graph));
  }

  /** Something asks for steps out of turn, most of all when a command has just changed what may begin. */
  #nudgeSoon(id: string, graph: Graph): void {
    for (const { id: step } of this.#random.some(graph.steps, 0.3)) {
      this.#agenda.after(this.#random.below(300), () => this.#process?.nudge(id, step));
    }
  }

  /** Early more often than not, while much is going on. */
  #anyTime(): number {
    return this.#random.below(this.#random.pick([500, 3_000, TROUBLE_ENDS]));
  }

  #boot(): void {
    this.#processes += 1;
    this.#process = new Process({
      engine: this.#engine,
      log: this.log,
      agenda: this.#agenda,
      random: this.#random,
      work: this.#work,
      acksEarly: this.#options.acksEarly ?? false,
    });
    this.#process.recover();
  }

  /** The process dies; or it only seems to, and goes on for a while beside the one that takes over. */
  #crash(): void {
    const old = this.#process;
    if (this.#work.calm || old === undefined) return;
    const seemsDead = this.#random.chance(0.3);
    const die = () => {
      old.alive = false;
    };
    if (seemsDead) this.#agenda.after(this.#random.below(500), die);
    else die();
    this.#process = undefined;
    this.#agenda.after(this.#random.below(200), () => this.#boot());
  }

  /** No more trouble: people do what runs wait for, again and again, until all have ended. */
  #help(rounds: number): void {
    this.#work.calm = true;
    const open = [...this.log.runs.values()].filter(run => !run.history.isTerminal);
    if (open.length === 0) return;
    if (rounds === 0) throw new Violation('liveness', `${open.map(run => run.id)} never ended`);
    for (const run of open) if (run.history.status !== null) this.#clients.help(run.id);
    this.#agenda.after(HELP_EVERY, () => this.#help(rounds - 1));
  }

  #tally(): Tally {
    const tally: Tally = {
      runs: 0,
      events: this.log.written,
      processes: this.#processes,
      completed: 0,
      failed: 0,
      stopped: 0,
    };
    for (const { history } of this.log.runs.values()) {
      tally.runs += 1;
      if (history.status === 'completed' || history.status === 'failed' || history.status === 'stopped')
        tally[history.status] += 1;
    }
    return tally;
  }
}
