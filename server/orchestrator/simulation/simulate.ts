import { sizeOf } from '../core/index.ts';
import type { MemoryLimits } from '../runtime/memory/memory-limits.ts';
import { Agenda } from './agenda.ts';
import { type AuditedRun, Auditor } from './auditor.ts';
import { LeadershipWatch } from './checkers/leadership.ts';
import { Promises } from './checkers/promises.ts';
import { checkRest } from './checkers/rest.ts';
import { Violation } from './checkers/violation.ts';
import { Clients } from './clients.ts';
import { Coverage, GROWN_HISTORY } from './coverage.ts';
import { Database } from './database.ts';
import { randomEconomy } from './economy.ts';
import { limitsForLargeEnds, randomLargeEnds } from './large-ends.ts';
import { admitRequest } from './overrides.ts';
import { Postgres } from './postgres.ts';
import { Random } from './random.ts';
import { FULL, type Knobs, randomScenario, type Scenario, TENANTS } from './scenario.ts';
import { Server, type ServerConfig } from './server.ts';
import { Surroundings } from './surroundings.ts';
import { Topology } from './topology.ts';
import { Work } from './work.ts';

/** The end of the faults, in ms of virtual time. After it, every run must come to its end. */
const TROUBLE_ENDS = 15_000;
/** The maximum number of times that people help before a run counts as one that never ends. */
const HELP_AT_MOST = 60;
/** A simulation takes a few hundred steps; one that takes this many has a loop. */
const MAX_STEPS = 60_000;
/** The longest until some process leads, if there are no more faults and nothing else happens. */
const LEADS_WITHIN_MS = 60_000;

export type Options = {
  knobs?: Knobs;
  /** Called with the runs according to the log, also when the simulation fails. */
  inspect?: (runs: readonly AuditedRun[], story: readonly string[]) => void;
};

export type Tally = { runs: number; events: number; processes: number; coverage: Coverage };

/**
 * Simulates the orchestrator with a few runs of random graphs, and with commands, failures and faults at random times,
 * all derived from one seed. Rejects with a Violation as soon as a guarantee does not hold.
 */
export async function simulate(seed: number, options: Options = {}): Promise<Tally> {
  const world = new World(seed, options.knobs ?? FULL);
  if (options.inspect !== undefined) world.at.story = [];
  try {
    return await world.play();
  } finally {
    options.inspect?.([...world.auditor.runs.values()], world.at.story ?? []);
  }
}

class World {
  readonly auditor: Auditor;
  readonly at: Surroundings;
  readonly #postgres: Postgres;
  readonly #work: Work;
  readonly #clients: Clients;
  readonly #leadership: LeadershipWatch;
  /** The time since when nothing has happened except attempts to lead. */
  #waitingSince: number | null = null;
  readonly #config: ServerConfig;
  readonly #topology: Topology | null;
  readonly #nodes: Random;
  #servers: Server[] = [];
  #processes = 0;
  #helps = 0;

  constructor(seed: number, knobs: Knobs) {
    const random = new Random(seed);
    const values = new Random(seed ^ 0x5bd1e995);
    const growth = new Random(seed ^ 0x2c1b3c6d);
    const calls = new Random(seed ^ 0x165667b1);
    const agents = new Random(seed ^ 0x3ad8025f);
    const joins = new Random(seed ^ 0x7ed55d16);
    const ends = new Random(seed ^ 0x61c88647);
    const skips = new Random(seed ^ 0x2545f491);
    const runTools = new Random(seed ^ 0x1b873593);
    const ahead = new Random(seed ^ 0x4cf5ad43);
    const nodes = new Random(seed ^ 0x1f123bb5);
    const isCluster = nodes.below(100) < knobs.clusters;
    this.#topology = isCluster ? new Topology(nodes.pick([2, 4]), nodes, () => this.#servers) : null;
    this.#nodes = nodes;
    const scenarios = new Map<string, Scenario>();
    for (let index = random.below(knobs.runs); index >= 0; index--) {
      const sources = { random, values, growth, calls, agents, runTools, joins, skips, ahead };
      const scenario = randomScenario(sources, knobs, index);
      scenarios.set(scenario.runId, scenario);
    }
    const hasLargeEnds = ends.below(100) < knobs.largeEnds;
    const large = hasLargeEnds ? randomLargeEnds(ends, scenarios.size) : [];
    for (const scenario of large) scenarios.set(scenario.runId, scenario);
    const economy = randomEconomy(random);
    this.at = new Surroundings({
      random,
      values,
      ahead,
      agenda: new Agenda(),
      knobs,
      coverage: new Coverage(),
      scenarios,
      economy,
    });
    const database = new Database();
    this.auditor = new Auditor(database, this.at);
    this.#postgres = new Postgres(database, this.auditor, this.at);
    this.#work = new Work(this.at, this.auditor);
    this.#config = randomConfig(random);
    if (hasLargeEnds) {
      this.at.count('many large ends at once');
      Object.assign(this.#config.writerLimits, limitsForLargeEnds(ends));
    }
    this.#config.ahead = randomAhead(ahead);
    this.at.descendants = this.#config;
    // Every start fits into memory: memory.test.ts tests when one is refused.
    const { memory } = this.#config;
    for (const { data, request } of scenarios.values())
      memory.runBytes = Math.max(memory.runBytes, 2 * (sizeOf(data) + sizeOf(request)));
    this.at.runBytes = memory.runBytes;
    this.#leadership = new LeadershipWatch(this.at);
    const promises = new Promises(this.at, this.auditor, this.#config.maxActiveRunsPerTenant);
    this.#clients = new Clients(this.at, promises, tenantId => this.#reachable(tenantId));
    this.at.onCalled = scenario => {
      if (values.chance(0.3) && knobs.commands > 0)
        this.at.agenda.after(values.below(3_000), () => this.#clients.anything(scenario));
    };
  }

  async play(): Promise<Tally> {
    for (const scenario of this.at.scenarios.values()) {
      if (scenario.unchecked) this.at.count('overrides stored unchecked');
      await admitRequest(scenario, this.at);
    }
    const { random, agenda, knobs } = this.at;
    const isPooled = this.at.trouble(0.03);
    if (isPooled && this.#topology === null) this.#startPooled();
    this.#boot();
    if (this.#topology !== null) {
      this.at.count('cluster');
      for (let joins = this.#nodes.below(4); joins > 0; joins--)
        agenda.after(this.#nodes.below(this.#nodes.pick([200, 6_000])), () => this.#boot());
    }
    for (const scenario of this.at.scenarios.values()) this.#plan(scenario);
    for (let fault = random.below(knobs.faults + 1); fault > 0; fault--) {
      agenda.after(this.#anyTime(), () => this.#fault());
    }
    if (knobs.faults > 0 && random.chance(0.5)) agenda.after(random.below(2_000), () => this.#boot());
    if (random.below(100) < knobs.deployments) this.#deployAgainAndAgain();
    for (let grant = random.below(4); grant > 0; grant--)
      agenda.after(this.#anyTime(), () => this.#grant(random.below(30)));
    agenda.after(TROUBLE_ENDS, () => this.#calmDown());
    return new Promise((resolve, reject) => {
      const turn = () => {
        try {
          if (this.#turn()) setImmediate(turn);
          else resolve(this.#tally());
        } catch (error) {
          reject(error);
        }
      };
      setImmediate(turn);
    });
  }

  /** Runs one action. The promises that it settles immediately are processed before the next turn. */
  #turn(): boolean {
    const { agenda, violation } = this.at;
    if (violation !== null) throw violation;
    if (agenda.steps > MAX_STEPS) throw new Violation('liveness', 'it does not come to rest');
    if (this.#servers.length > 1) this.#leadership.check(this.#servers);
    for (const server of this.#servers) server.runtime?.checkGuarantees();
    if (agenda.busy || !this.#isLed()) {
      this.#waitingSince = agenda.busy ? null : (this.#waitingSince ?? agenda.now);
      if (this.#waitingSince !== null && agenda.now - this.#waitingSince > LEADS_WITHIN_MS)
        throw new Violation('liveness', 'no process leads');
      if (agenda.step()) return true;
    }
    checkRest({
      at: this.at,
      servers: this.#servers,
      runs: [...this.auditor.runs.values()],
      work: this.#work,
      clients: this.#clients,
    });
    return this.#help();
  }

  /** Whether exactly one process leads, and its checks of its session no longer change anything. */
  #isLed(): boolean {
    if (this.#servers.some(server => server.isStopping)) return false;
    if (this.#topology !== null)
      return TENANTS.every(tenant => {
        const leading = this.#servers.filter(server => server.leadsTenant(tenant));
        return leading.length === 1 && leading[0]?.leadsWell === true;
      });
    const leading = this.#servers.filter(server => server.leads);
    return leading.length === 1 && leading[0]?.leadsWell === true;
  }

  #plan(scenario: Scenario): void {
    const { random, agenda, knobs } = this.at;
    agenda.after(random.below(random.chance(0.8) ? 300 : 6_000), () => this.#clients.start(scenario));
    for (let command = random.below(knobs.commands + 1); command > 0; command--) {
      agenda.after(this.#anyTime(), () => this.#clients.anything(scenario));
    }
  }

  /** Shuts down more often in a row than the number of crashes after which a step is given up. */
  #deployAgainAndAgain(): void {
    this.at.count('deployed again and again');
    for (let n = 1; n <= 8; n++)
      this.at.agenda.after(n * 1_700, () => {
        for (const server of this.#servers) if (server.leads) void server.close();
      });
  }

  /** Returns a random time, usually early, while much is happening. */
  #anyTime(): number {
    return this.at.random.below(this.at.random.pick([500, 3_000, TROUBLE_ENDS]));
  }

  /** Grants bought credits, through the leading process or another one. */
  #grant(amount: number): void {
    const { random, agenda } = this.at;
    const tenant = random.pick(TENANTS);
    this.at.count('credits granted');
    this.#postgres.database.grant(tenant, amount, agenda.now);
    if (random.chance(0.7)) for (const server of this.#servers) if (server.leads) server.runtime?.meter.changed(tenant);
  }

  /** A request that reaches another node than the owner is not forwarded here: the client tries again. */
  #reachable(tenantId: string): Server | undefined {
    const alive = this.#servers.filter(server => server.alive);
    const leading = alive.filter(server => (this.#topology === null ? server.leads : server.leadsTenant(tenantId)));
    const reach = leading.length > 0 && !this.at.trouble(0.05) ? leading : alive;
    return reach[this.at.random.below(reach.length)];
  }

  #boot(): void {
    this.#processes += 1;
    const name = `process ${this.#processes}`;
    const server = new Server(name, {
      at: this.at,
      postgres: this.#postgres,
      work: this.#work,
      config: this.#config,
      topology: this.#topology,
      leadership: this.#leadership,
      onDeath: died => this.#serverDied(died),
    });
    this.#servers.push(server);
  }

  #serverDied(server: Server): void {
    this.#servers = this.#servers.filter(other => other !== server);
    if (this.#servers.length === 0) this.at.agenda.after(this.at.random.below(200), () => this.#boot());
  }

  #fault(): void {
    const { random } = this.at;
    const server = this.#servers.find(each => each.leads) ?? this.#servers[0];
    if (this.at.calm || server === undefined) return;
    const any = random.pick([server, ...this.#servers]);
    const kind = random.next();
    if (kind < 0.22) this.#crashBetweenTurns(server, random.below(12));
    else if (kind < 0.37) server.crashAfter(1 + random.below(30));
    else if (kind < 0.48) this.#terminate(any);
    else if (kind < 0.57) {
      server.freeze(random.below(random.chance(0.8) ? 3_000 : 14_000));
      if (random.chance(0.5)) this.#cut(server);
    } else if (kind < 0.64) this.#cut(server);
    else if (kind < 0.72) this.#leadBeside(server);
    else if (kind < 0.78) server.setClock(random.below(20_000) - 10_000);
    else if (kind < 0.81) server.setClock(random.pick([-3_600_000, 3_600_000]));
    else if (kind < 0.86) server.stopClock(random.below(2_000));
    else if (kind < 0.94)
      any.partition(
        random.pick<{ session: boolean; pool: boolean }>([
          { session: true, pool: false },
          { session: false, pool: true },
          { session: true, pool: true },
        ]),
        random.below(8_000),
      );
    else if (kind < 0.97) this.#failOver(random.below(6_000));
    else this.#fillDisk(random.below(8_000));
  }

  /** Sends SIGTERM at any time, also while a process is about to lead. */
  #terminate(server: Server): void {
    const { random, agenda } = this.at;
    if (random.chance(0.7)) return void server.close();
    server.die();
    if (this.#servers.length === 0) this.#boot();
    const next = this.#servers[0];
    agenda.after(random.below(40), () => void next?.close());
  }

  /** Makes a process seem dead: another one takes over while the process continues for a while. */
  #leadBeside(server: Server): void {
    const { random, agenda } = this.at;
    if (this.#topology !== null) {
      this.#boot();
      agenda.after(random.below(3_000), () => server.die());
      return;
    }
    this.#postgres.lockless = true;
    this.at.twoLed = true;
    this.#boot();
    agenda.after(random.below(3_000), () => {
      this.#postgres.lockless = false;
      server.die();
    });
  }

  #failOver(ms: number): void {
    this.at.count('failover to a read-only standby');
    this.#postgres.failOver();
    this.at.agenda.after(ms, () => {
      this.#postgres.readOnly = false;
    });
  }

  #fillDisk(ms: number): void {
    this.at.count('disk full for a while');
    this.#postgres.diskFull = true;
    this.at.agenda.after(ms, () => {
      this.#postgres.diskFull = false;
    });
  }

  /** Starts two processes behind a pooler that gives each transaction any backend. */
  #startPooled(): void {
    const { random, agenda } = this.at;
    this.at.count('pooler in transaction mode');
    this.#postgres.pool();
    agenda.after(random.below(1_000), () => this.#boot());
    agenda.after(TROUBLE_ENDS - 1, () => this.#postgres.unpool());
  }

  /** Ends the process between two turns of the microtask queue, in the middle of its work. */
  #crashBetweenTurns(server: Server, turns: number): void {
    if (turns > 0 && server.alive) {
      queueMicrotask(() => this.#crashBetweenTurns(server, turns - 1));
      return;
    }
    if (!server.alive) return;
    this.at.count('crash between turns');
    server.die();
  }

  #cut(server: Server): void {
    this.at.count('session ended by the database');
    server.session?.cut(this.at.random.below(1_000));
  }

  /** Ends all faults. */
  #calmDown(): void {
    this.at.calm = true;
    this.#postgres.lockless = false;
    this.#postgres.readOnly = false;
    this.#postgres.diskFull = false;
    // A standby must be able to take over, regardless of earlier faults.
    const leader = this.#servers.find(server => server.leads);
    if (this.#servers.length > 1 && this.at.random.chance(0.5)) leader?.die();
    for (const server of this.#servers) {
      server.heal();
      server.crashAfter(Number.POSITIVE_INFINITY);
      // The fence keeps runs consistent; the lock ensures that another leader continues them.
      if (this.at.twoLed) server.die();
    }
  }

  /** Makes people do the tasks for which the runs wait. Returns false if all runs have ended. */
  #help(): boolean {
    const { postponed } = this.#clients;
    const missing = [...this.at.scenarios.values()].filter(
      scenario => !scenario.unstorable && !postponed.has(scenario) && this.auditor.run(scenario.runId) === undefined,
    );
    if (missing.length > 0) throw new Violation('liveness', `${missing.map(({ runId }) => runId)} never started`);
    const open = [...this.auditor.runs.values()].filter(run => !run.history.isTerminal);
    if (open.length === 0 && postponed.size === 0) return false;
    this.#helps += 1;
    if (this.#helps > HELP_AT_MOST)
      throw new Violation('liveness', `${[...open.map(({ id }) => id), ...postponed].length} runs never ended`);
    // Granted at time 0, because no balance is being read now: a later refusal has no excuse.
    for (const tenant of TENANTS) this.#postgres.database.grant(tenant, 1_000, 0);
    for (const run of open) this.#helpRun(run);
    for (const scenario of postponed) this.at.agenda.after(1_000, () => this.#clients.start(scenario));
    postponed.clear();
    return true;
  }

  #helpRun({ id, state }: AuditedRun): void {
    const scenario = this.at.scenario(id);
    if (state.status === 'paused' && state.stopRequested === null)
      this.#clients.command(scenario, { type: 'resume', by: 'a helper' });
    else if (state.waiting.size > 0) for (const step of state.waiting) this.#clients.complete(scenario, step);
    // The run for which it waits is helped instead, or is itself stuck.
    else if (state.calling.size > 0 && state.inFlight.size === 0) return;
    else this.#clients.command(scenario, { type: 'stop', mode: 'immediate', by: 'a helper' });
  }

  #tally(): Tally {
    if ([...this.auditor.runs.values()].some(({ state }) => state.grown !== null)) this.at.count(GROWN_HISTORY);
    return {
      runs: this.auditor.runs.size,
      events: this.auditor.events,
      processes: this.#processes,
      coverage: this.at.coverage,
    };
  }
}

/** Returns memory limits with room for one or for many runs. A large result of the simulation has 17 kB. */
function randomMemory(random: Random): MemoryLimits {
  const small = random.chance(0.3);
  return {
    runBytes: random.chance(0.1) ? 20_000 : 1_000_000,
    liveBytes: small ? 4_000 + random.below(20_000) : 1_000_000,
    liveBytesPerTenant: small ? 4_000 + random.below(20_000) : 1_000_000,
    uncommittedResultBytes: 100 * 1024 * 1024,
    loadingBytes: 20_000 + random.below(60_000),
    cacheBytes: random.pick([0, 20_000, 100_000]),
  };
}

/** Returns small limits of what a turn decides ahead, so that all of them are reached. */
const randomAhead = (random: Random): ServerConfig['ahead'] => ({
  steps: random.pick([1, 2, 3, 8]),
  ms: random.pick([1, 2, 2]),
  bytes: random.pick([200, 256 * 1024]),
});

/** Returns small limits, so that all of them are reached. */
function randomConfig(random: Random): ServerConfig {
  // With many slots, many results arrive at the same time.
  const wide = random.chance(0.15);
  const maxInFlight = wide ? 20 : 1 + random.below(6);
  const small = random.chance(0.15);
  return {
    maxInFlight,
    maxInFlightPerTenant: wide ? 10 : Math.min(maxInFlight, 1 + random.below(4)),
    maxCallsInFlight: 1 + random.below(4),
    maxActiveRunsPerTenant: random.chance(0.2) ? 1 + random.below(2) : 100,
    // Not drawn, so that they change nothing else of a seed.
    maxDescendants: wide ? 2 : 100,
    maxActiveDescendants: small ? 1 : 100,
    shutdownGraceMs: random.pick([0, 500, 5_000]),
    memory: randomMemory(random),
    ahead: { steps: 64, ms: 2, bytes: 256 * 1024 },
    writerLimits: {
      queuedRows: small ? 1 + random.below(6) : 1_000,
      queuedBytes: small ? 5_000 : 64 * 1024 * 1024,
      batchRows: small ? 1 + random.below(4) : 100,
      quantumRows: small ? 1 : 12,
      batchBytes: random.pick([30_000, 60_000, 8 * 1024 * 1024]),
      worthEntries: 1 + random.below(3),
    },
  };
}
