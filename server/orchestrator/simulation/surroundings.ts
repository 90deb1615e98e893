import type { ChildCall } from '../core/index.ts';
import type { Agenda } from './agenda.ts';
import { calledScenario } from './calls.ts';
import { Violation } from './checkers/violation.ts';
import type { Coverage } from './coverage.ts';
import type { Economy } from './economy.ts';
import type { Random } from './random.ts';
import type { Knobs, Scenario } from './scenario.ts';

/**
 * PostgreSQL's `infinity` and `-infinity` arrive as numbers, and a year beyond the range of Date as an invalid Date.
 */
const BAD_TIMES = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, new Date(Number.NaN)] as const;

/** The state that all parts of one simulated world share. */
export class Surroundings {
  readonly random: Random;
  /** Draws hostile values. A separate source, so that they change nothing else of a seed. */
  readonly values: Random;
  readonly #badTimes = new Map<string, Date | number | null>();
  /** Draws how long the steps that are decided ahead take. */
  readonly ahead: Random;
  readonly agenda: Agenda;
  readonly knobs: Knobs;
  readonly coverage: Coverage;
  readonly scenarios: ReadonlyMap<string, Scenario>;
  readonly economy: Economy;
  readonly #called = new Map<string, Scenario>();
  /** Called with each run that a step calls. */
  onCalled: (scenario: Scenario) => void = () => {};
  /** Whether faults have ended: from now on everything must come to its end. */
  calm = false;
  /** Whether some clock has been set back, so that later events may have earlier times. */
  timeWentBack = false;
  /** How many runs may be beneath one run. */
  descendants = { maxDescendants: Number.POSITIVE_INFINITY, maxActiveDescendants: Number.POSITIVE_INFINITY };
  /**
   * The steps whose evaluation ended a process before the log said that they began, with their attempts by the log then, and
   * how many processes it ended.
   */
  readonly endedProcesses = new Map<string, { attempt: number; times: number }>();
  /** The budget of a run. */
  runBytes = Number.POSITIVE_INFINITY;
  /** Whether the lock did not hold for a while, so that two processes led at the same time. */
  twoLed = false;
  /** A record of what happened and when; kept only if it will be printed. */
  story: string[] | null = null;
  #violation: Error | null = null;

  constructor(
    parts: Pick<
      Surroundings,
      'random' | 'values' | 'ahead' | 'agenda' | 'knobs' | 'coverage' | 'scenarios' | 'economy'
    >,
  ) {
    this.random = parts.random;
    this.values = parts.values;
    this.ahead = parts.ahead;
    this.agenda = parts.agenda;
    this.knobs = parts.knobs;
    this.coverage = parts.coverage;
    this.scenarios = parts.scenarios;
    this.economy = parts.economy;
  }

  /** Returns true with this probability until faults have ended. */
  trouble(probability: number): boolean {
    return !this.calm && this.knobs.faults > 0 && this.random.chance(probability);
  }

  /** Returns the impossible time that the run's row has permanently, as the driver returns it; null for most runs. */
  badTime(runId: string): Date | number | null {
    let time = this.#badTimes.get(runId);
    if (time === undefined) {
      const isBad = this.knobs.faults > 0 && this.values.chance(0.08);
      time = isBad ? this.values.pick<Date | number>(BAD_TIMES) : null;
      this.#badTimes.set(runId, time);
    }
    return time;
  }

  /** Notes that something happened, for the tally and for the story of a failing seed. */
  count(what: string): void {
    this.coverage.count(what);
    this.story?.push(`${String(this.agenda.now).padStart(7)} ms  ${what}`);
  }

  /** The first guarantee that did not hold; the simulation ends with it. */
  get violation(): Error | null {
    return this.#violation;
  }

  /** Notes a violation. It is not thrown, because the code under test would catch some violations. */
  fail(checker: string, message: string): void {
    this.#violation ??= new Violation(checker, message);
  }

  /** Runs a check that throws. */
  check(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#violation ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Returns the scenario of a run. Throws for a run that neither a client starts nor a step calls. */
  scenario(runId: string): Scenario {
    const scenario = this.scenarios.get(runId) ?? this.#called.get(runId);
    if (scenario === undefined) throw new Violation('calls', `There is no run "${runId}".`);
    return scenario;
  }

  /** Notes that a step of a run calls another run, before that starts. */
  called(parent: string, step: string, call: ChildCall): void {
    const scenario = calledScenario(this.scenario(parent), step, call);
    this.#called.set(call.run_id, scenario);
    this.onCalled(scenario);
  }
}
