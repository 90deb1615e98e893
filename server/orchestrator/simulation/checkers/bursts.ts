import { readJson } from '../../../platform/json-text.ts';
import { sizeOf } from '../../core/index.ts';
import type { LogEntry } from '../../log/index.ts';
import type { Attempt, Outcome } from '../../ports/step-type.ts';
import type { AheadLimits } from '../../runtime/runs/steps-ahead.ts';
import type { Surroundings } from '../surroundings.ts';

type Row = LogEntry['rows'][number];
type Evaluated = { step: string; attempt: number; outcome: Outcome; atMs: number };

/** The events with which an attempt ends by itself. */
const ENDS: ReadonlySet<string> = new Set(['step_completed', 'step_failed', 'step_retrying', 'step_expanded']);

const keyOf = ({ step, attempt }: { step: string | null; attempt: number | null }): string => `${step}#${attempt}`;
const bytesOf = (outcome: Outcome): number =>
  outcome.kind === 'completed' ? sizeOf(outcome.result) : outcome.kind === 'expanding' ? sizeOf(outcome.items) : 0;

/**
 * Checks what turns decide ahead (docs/adr/0037-a-turn-decides-pure-steps.md), from the evaluations of one process and
 * the entries that it appends. The log must be what separate turns would write:
 * - only a step that was evaluated starts and ends in one entry, with the outcome of its evaluation;
 * - the steps that one turn would have started end, in the order of their starts, before the next step starts;
 * - the end of an attempt that is in flight by the log comes first, and no stop waits to be decided;
 * - no limit of steps, time or bytes was reached before the last evaluation.
 */
export class BurstWatch {
  readonly #at: Surroundings;
  readonly #limits: Omit<AheadLimits, 'stopwatch'>;
  /** The steps that each run has evaluated since its last entry. */
  readonly #evaluated = new Map<string, Evaluated[]>();
  /** The runs to which a stop was sent that no entry has yet. */
  readonly #toStop = new Set<string>();

  constructor(at: Surroundings, limits: Omit<AheadLimits, 'stopwatch'>) {
    this.#at = at;
    this.#limits = limits;
  }

  stopArrived(runId: string): void {
    this.#toStop.add(runId);
  }

  /** Call this for each step that is evaluated in a turn. `atMs`: the stopwatch after it. */
  evaluated({ run, step, attempt }: Attempt, outcome: Outcome, atMs: number): void {
    const before = this.#evaluated.get(run.id) ?? [];
    this.#evaluated.set(run.id, before);
    const [first] = before;
    if (before.length >= this.#limits.steps) this.#fail(run.id, `evaluates step ${before.length + 1} of a turn`);
    const tookMs = first === undefined ? 0 : (before.at(-1)?.atMs ?? 0) - first.atMs;
    if (tookMs >= this.#limits.ms) this.#fail(run.id, `evaluates a step after ${tookMs} ms`);
    const bytes = before.reduce((sum, each) => sum + bytesOf(each.outcome), 0);
    if (bytes >= this.#limits.bytes) this.#fail(run.id, `evaluates a step after ${bytes} bytes of results`);
    before.push({ step: step.id, attempt, outcome, atMs });
  }

  /** Call this for each entry, before it is sent. */
  appended(entry: LogEntry): void {
    const { runId, rows } = entry;
    const evaluated = this.#evaluated.get(runId) ?? [];
    this.#evaluated.delete(runId);
    if (evaluated.length > 0) this.#checkBurst(entry, evaluated);
    this.#checkEnds(runId, rows, new Map(evaluated.map(each => [keyOf(each), each.outcome])));
    if (rows.some(({ type }) => type === 'stop_requested' || type === 'state_changed')) this.#toStop.delete(runId);
  }

  #checkBurst({ runId, rows, created }: LogEntry, evaluated: readonly Evaluated[]): void {
    this.#at.count('steps decided ahead');
    if (evaluated.some(({ outcome }) => outcome.kind === 'expanding')) this.#at.count('loop begun ahead');
    const started = new Set(rows.filter(({ type }) => type === 'step_started').map(keyOf));
    const leads = rows.some(row => row.attempt !== null && ENDS_OR_ASKS.has(row.type) && !started.has(keyOf(row)));
    if (created !== undefined || !leads) this.#fail(runId, 'decides steps ahead, but ends no attempt that had begun');
    if (this.#toStop.has(runId)) this.#fail(runId, 'decides steps ahead while it is to be stopped');
    for (const { step, attempt } of evaluated)
      if (!rows.some(row => row.step === step && row.attempt === attempt && row.type !== 'step_started'))
        this.#fail(runId, `has evaluated "${step}", and its log has no outcome`);
    this.#checkRounds(runId, rows, new Set(evaluated.map(keyOf)));
    this.#countEnd(rows, evaluated);
  }

  /** Checks that each turn's steps end together, as if their start had been committed. */
  #checkRounds(runId: string, rows: readonly Row[], evaluated: ReadonlySet<string>): void {
    let open: string[] = [];
    let isEnding = false;
    for (const row of rows) {
      const key = keyOf(row);
      if (row.type === 'step_started') {
        if (isEnding && open.length > 0) this.#fail(runId, `starts "${row.step}" before the end of ${open}`);
        isEnding = false;
        if (evaluated.has(key)) open.push(key);
      } else if (open.includes(key) && (ENDS.has(row.type) || row.type === 'step_cancelled')) {
        if (ENDS.has(row.type) && open[0] !== key) this.#fail(runId, `ends ${key} before ${open[0]}`);
        isEnding = true;
        open = open.filter(other => other !== key);
      }
    }
  }

  /** Checks that no attempt starts and ends in one entry but by its evaluation. */
  #checkEnds(runId: string, rows: readonly Row[], evaluated: ReadonlyMap<string, Outcome>): void {
    const started = new Set<string>();
    for (const row of rows) {
      const key = keyOf(row);
      if (row.type === 'step_started') started.add(key);
      if (!started.has(key) || !ENDS.has(row.type)) continue;
      const outcome = evaluated.get(key);
      if (outcome === undefined && !INSTEAD.some(code => row.json.includes(`"${code}"`)))
        this.#fail(runId, `${row.type} of "${row.step}" is in the entry of its start`);
      if (outcome?.kind === 'completed' && row.type === 'step_completed') this.#checkResult(runId, row, outcome.result);
    }
  }

  #checkResult(runId: string, { step, json }: Row, result: unknown): void {
    const { value } = (result ?? {}) as { value?: unknown };
    if (typeof value !== 'boolean') return;
    const loggedValue = (readJson(json) as { result?: { value?: unknown } }).result?.value;
    if (loggedValue !== undefined && loggedValue !== value)
      this.#fail(runId, `"${step}" was ${value}, and its log says ${loggedValue}`);
  }

  #countEnd(rows: readonly Row[], evaluated: readonly Evaluated[]): void {
    const done = new Set(evaluated.map(keyOf));
    if (!rows.some(row => row.type === 'step_started' && !done.has(keyOf(row)))) return;
    const bytes = evaluated.reduce((sum, each) => sum + bytesOf(each.outcome), 0);
    const tookMs = (evaluated.at(-1)?.atMs ?? 0) - (evaluated[0]?.atMs ?? 0);
    if (evaluated.length >= this.#limits.steps) this.#at.count('burst ended by its number of steps');
    else if (bytes >= this.#limits.bytes) this.#at.count('burst ended by its bytes');
    else if (tookMs >= this.#limits.ms) this.#at.count('burst ended by its time');
    else this.#at.count('burst before a step that is executed');
  }

  #fail(runId: string, message: string): void {
    this.#at.fail('bursts', `${runId} ${message}`);
  }
}

const ENDS_OR_ASKS: ReadonlySet<string> = new Set([...ENDS, 'task_pending', 'step_waiting', 'child_called']);
/** The errors of steps that fail instead of starting. */
const INSTEAD = ['insufficient_credits', 'run_quarantined', 'attempt_lost_repeatedly'];
