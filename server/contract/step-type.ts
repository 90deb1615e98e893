import type { z } from 'zod';
import type {
  AgentProgress,
  Consumption,
  ExpansionPlan,
  GraphStep,
  JsonMap,
  JsonValue,
  StepError,
  TaskRequest,
  TurnEnd,
} from '../orchestrator/core/index.ts';
import type { Scope } from './context.ts';

/** A semantic problem found in a graph; `path` is relative to the step, such as `script` or `tool_args.url`. */
export type StepProblem = { path: string; code: string; message: string };

/** One attempt of a step, as the executor hands it to the step's type. */
export type Attempt = {
  run: { id: string; workflowId: string; version: number; tenantId: string; projectId: string };
  step: GraphStep;
  attempt: number;
  /** ms since the epoch at which the attempt began. */
  now: number;
  input: JsonMap;
  /** The W3C trace context to hand to services that are called; absent while nothing is traced (docs/observability.md). */
  readonly traceparent?: string | undefined;
  /** Returns the result of an ancestor; null for a skipped one. Throws for a step that is not an ancestor. */
  result(step: string): JsonValue;
  /** Returns why an ancestor failed that is `on_error: continue`; undefined for any other step. */
  errorOf?(step: string): StepError | undefined;
  /** The JSON text of a result, where it is at hand: a large result is loaded as text. */
  resultText?(step: string): string | undefined;
  /** Ids of all ancestors. In a loop: those in the same item, by their own ids, and the loop's. */
  ancestors(): ReadonlySet<string>;
  /** The item that a step in a loop is executed for, and its number from 0; null or absent outside of loops. */
  readonly item?: { item: JsonValue; index: number } | null | undefined;
  /** What came of the items, if the step has expanded; null or absent before. */
  readonly gathered?: Gathered | null | undefined;
  /** The agent that the step is, if it has expanded, or that it was added under; null or absent for any other step. */
  readonly agent?: AgentProgress | null | undefined;
  /** The run that the step has called and that has completed; null or absent before. */
  readonly child?: { runId: string; workflowId: string } | null | undefined;
  /** How many calls lead to the run, and what its starter lacks. */
  readonly lineage?: CallLineage | undefined;
  /** Keeps lines while the attempt still runs (streamed output). Lines known only at the end go into the outcome instead: one event less. */
  log(lines: string[]): void;
  /** A type that `queues` calls this when the attempt's own work begins: from then on its `timeout_s` runs. */
  began?(): void;
  /** Settles in a turn of the event loop of its own: await it before work on a large value. */
  ownTurn?(): Promise<void>;
};

/** The end of all items of a step that has expanded. */
export type Gathered = {
  /** The steps of its graph on which no other depends. */
  readonly last: readonly string[];
  /** For each item the results of these steps, in their order; null for one that failed. */
  readonly ends: readonly (readonly JsonValue[] | null)[];
  readonly failed: number;
};

/** The run that a step calls. The executor gives it its id. */
export type WorkflowCall = { workflowId: string; version: number; input: JsonMap; detach: boolean };

/** What a called run inherits. `withheldScopes`: scopes that types of step take to start, and that the starter lacks. */
export type CallLineage = { depth: number; withheldScopes: readonly string[] };

export type Outcome =
  /** `turn`, `digest`: of a turn, and of a call, of an agent. */
  | {
      kind: 'completed';
      result: JsonValue;
      log?: string[];
      consumed?: Consumption[];
      turn?: TurnEnd;
      digest?: string;
    }
  | { kind: 'waiting'; task: TaskRequest }
  /**
   * The step is carried out by steps that are added to the run: those of its own graph, once for each of `items`, or those
   * of an agent, which work from `agent`. It is executed again when these have ended.
   */
  | { kind: 'expanding'; plan: ExpansionPlan; items: JsonValue[]; agent?: JsonMap; log?: string[] }
  /** The step calls a run; it is executed again when that has completed, unless it does not wait for it. */
  | { kind: 'calling'; call: WorkflowCall; log?: string[] }
  /** The step goes on at `until`, in ms since the epoch; it holds no slot until then. */
  | { kind: 'sleeping'; until: number }
  | {
      kind: 'failed';
      error: StepError;
      retryable: boolean;
      retryAfterMs?: number;
      log?: string[];
      consumed?: Consumption[];
    };

/**
 * The project whose instances and models a check may use. `inLoop`: the step may read `item` and `index`. `workflowId`:
 * of the graph that is checked; absent where it belongs to no workflow yet.
 */
export type CheckScope = { tenantId: string; projectId: string; inLoop?: boolean; workflowId?: string };

/** The graph around a step as its check sees it, and where it reports problems. */
export type GraphCheck = {
  /** Ids of the steps that depend on this one. */
  readonly dependents: readonly string[];
  /** Whether the step is in a loop, and may read `item` and `index`. */
  readonly inLoop: boolean;
  /** Reports a problem at `path` unless `step`, which is read there, comes before this one. */
  reads(step: string, path: string, as: 'error' | 'warning'): void;
  /** Reports a problem at `path`, where `item` or `index` is read, unless the step is in a loop. */
  readsItem(path: string): void;
  error(problem: StepProblem): void;
  warn(problem: StepProblem): void;
};

/** The facts about a step type that the rest of the product needs. */
export type StepTypeDescription = {
  /** Its name in the console. */
  readonly label: string;
  /** The name of its icon, which components/graph/step-icon.tsx draws. */
  readonly icon: string;
  /** The actions that an attempt is charged for beside the step itself; credits for one of each are held before it begins. */
  readonly billable: readonly Consumption['action'][];
  /** The field with the name of what an attempt uses, which usage is listed by: a tool, a model. */
  readonly subject?: string;
  /** The scope that a start takes beside `workflow:run` where the version has steps of the type. */
  readonly startScope?: Scope;
  /** Its steps end by `complete_task`. Their `timeout_s` bounds the time that people have, not the attempt. */
  readonly waitsForPeople?: true;
};

/**
 * One step type: its fields, its checks at publish time and its execution. A new type is one file, its description and a
 * line in the registry. `execute` never throws for what a user can cause: that is an outcome. It must settle soon after `signal`
 * aborts (timeout, stop, shutdown); the executor enforces `timeout_s` through that signal and ignores what comes later.
 */
export type StepType = StepTypeDescription & {
  readonly type: string;
  /** Strict zod object of the fields beside the common ones. */
  readonly fields: z.ZodObject;
  /** Whether a graph with this type may be published; the message says why not. */
  readonly available: true | { message: string };
  /** Seconds; null = none. */
  readonly defaultTimeoutS: number | null;
  readonly retries: boolean;
  /** It needs what lies outside of the graph and may come or go: `check` of a disabled step only warns. */
  readonly external?: boolean;
  /** Attempts may wait in a queue of the type's own; then `timeout_s` runs from `Attempt.began`, not from the dispatch. */
  readonly queues?: boolean;
  /** Its attempts wait for an answer from elsewhere and use next to no CPU: they do not take the slots of those that do. */
  readonly io?: boolean;
  /**
   * Ids of the steps whose results `execute` may read, or `all` ancestors. Large results are loaded before it begins; they
   * are there until it first awaits or, for a type that `queues`, until the attempt ends. Default: all, until it ends.
   */
  reads?(step: GraphStep): Iterable<string> | 'all';
  /** Semantic checks beside templates (which are checked for all string fields): Lua compiles, CEL parses, a form is a JSON Schema. */
  check(step: GraphStep, scope: CheckScope): Promise<StepProblem[]> | StepProblem[];
  /** Semantic checks that need the rest of the graph: what the step reads there, and which steps it names. */
  checkInGraph?(step: GraphStep, graph: GraphCheck): void;
  /** Its own fields that hold data rather than logic or authority: an author may open them to overrides (`overridable`). */
  readonly dataFields: readonly string[];
  /**
   * Of those, the fields whose templates of the run's input a start may fill in itself, even if they are not opened.
   */
  readonly filledFields?: readonly string[];
  /** Fields, common ones too, that decide who approves, when and how: no run can override them. */
  readonly approvalFields?: readonly string[];
  /** Whether what comes after it runs is for this step to decide: a check or an approval. */
  readonly decides?: true;
  /** Fields whose templates are not those of the step: Lua scripts, the steps of a loop. */
  readonly rawFields: readonly string[];
  execute(attempt: Attempt, signal: AbortSignal): Promise<Outcome>;
};

/** The step types of this process, by name. */
export type StepTypes = ReadonlyMap<string, StepType>;
