import type { z } from 'zod';
import type { McpTool } from '../../platform/mcp-client/index.ts';
import type {
  AgentBounds,
  AgentProgress,
  Consumption,
  ExpansionPlan,
  GraphStep,
  JsonMap,
  JsonValue,
  OfAgentStep,
  StepError,
  TaskRequest,
} from '../core/index.ts';
import type { Scope } from './authority.ts';
import type { ActionPrices } from './billable-actions.ts';
import type { StepDefaults } from './step-declarations.ts';

/** A semantic problem found in a graph; `path` is relative to the step, such as `script` or `tool_args.url`. */
export type StepProblem = { path: string; code: string; message: string };

/** One attempt of a step, as the executor hands it to the step's type. */
export type Attempt = {
  /** `startedBy`: the email address of the person for whom the run acts; absent in tests of a type alone. */
  run: { id: string; workflowId: string; version: number; tenantId: string; projectId: string; startedBy?: string };
  step: GraphStep;
  attempt: number;
  /** ms since the epoch at which the attempt started. */
  now: number;
  input: JsonMap;
  /**
   * The W3C trace context to send to services that the step calls; absent if tracing is off (docs/observability.md).
   */
  readonly traceparent?: string | undefined;
  /** Returns the result of an ancestor; null for a skipped one. Throws for a step that is not an ancestor. */
  result(step: string): JsonValue;
  /** Returns why an ancestor with `on_error: continue` failed; undefined for any other step. */
  errorOf?(step: string): StepError | undefined;
  /** The JSON text of a result, if it is available as text, as large results are. */
  resultText?(step: string): string | undefined;
  /** Returns the fields of an ancestor, or undefined for a step that is none. */
  stepOf?(step: string): GraphStep | undefined;
  /** Where the input of the run is from, if it holds text from outside of the workspace; null or absent if it does not. */
  readonly outsideInput?: string | null | undefined;
  /** The source of the run's input, if a run or a failure put private data into it; null or absent if not. */
  readonly privateInput?: string | null | undefined;
  /** The loop around a step in a loop. */
  readonly loop?: GraphStep | null | undefined;
  /** Ids of all ancestors. In a loop: those in the same item, by their own ids, and the loop's. */
  ancestors(): ReadonlySet<string>;
  /** The item for which a step in a loop is executed, and its index from 0; null or absent outside of loops. */
  readonly item?: { item: JsonValue; index: number } | null | undefined;
  /** The results of the items, if the step has expanded; null or absent before. */
  readonly gathered?: Gathered | null | undefined;
  /** For an agent that has expanded, and for a step added under it: the agent. Null or absent for any other step. */
  readonly agent?: AgentProgress | null | undefined;
  /** The completed run that the step called; null or absent before. */
  readonly child?: { runId: string; workflowId: string } | null | undefined;
  /** Which scopes its starter lacks. */
  readonly lineage?: CallLineage | undefined;
  /** For a step under an agent: the end of the step with this id in the run that this one continues; null: execute it. */
  earlier?(step: string): JsonValue;
  /**
   * The process ended during an earlier attempt, so it is unknown whether the step has happened; and no person has since
   * asked for a repetition.
   */
  readonly inDoubt?: boolean | undefined;
  /** The prices of the workspace; absent if nothing is charged. */
  readonly prices?: ActionPrices | undefined;
  /**
   * Reserves what the attempt may cost, in microcredits, until its end is committed; waits while attempts in flight have reserved it.
   * Absent where nothing limits the spending of the run. Rejects if the attempt is over.
   */
  readonly reserve?: ((wanted: Wanted) => Promise<Reserved>) | undefined;
  /**
   * Records lines while the attempt is still running (streamed output). Put lines that are known only at the end into
   * the outcome instead: this saves an event.
   */
  log(lines: string[]): void;
  /** Reports the text that the attempt has written since the last report. It is kept if the attempt is cancelled. */
  wrote?(text: string): void;
  /** A type that `queues` calls this when the attempt's own work begins; its `timeout_s` counts from then. */
  began?(): void;
  /** Resolves in a separate turn of the event loop: await it before work on a large value. */
  ownTurn?(): Promise<void>;
};

/** Microcredits that an attempt needs, and the most that it can use. */
export type Wanted = { least: number; most: number };
export type Reserved = { kind: 'reserved'; microcredits: number } | { kind: 'refused'; error: StepError };

/** The results of all items of a step that has expanded. */
export type Gathered = {
  /** The steps of its graph on which no other depends. */
  readonly last: readonly string[];
  /** For each item the results of these steps, in the same order; null for an item that failed. */
  readonly ends: readonly (readonly JsonValue[] | null)[];
  readonly failed: number;
};

/** The run that a step calls. The executor assigns its id. */
export type WorkflowCall = {
  workflowId: string;
  version: number;
  input: JsonMap;
  detach: boolean;
  /** Where the input holds text from outside of the workspace; absent if it does not. */
  outsideInput?: string | undefined;
  /** Where the input holds private data; absent if it does not. */
  privateInput?: string | undefined;
  /** The agent whose model calls the run as a tool, by the id of the agent's workflow. */
  agentId?: string | undefined;
};

/**
 * The values that a called run inherits. `withheldScopes`: scopes that starting some type of step requires
 * and that the starter lacks. `agents`: those that called the run, or one above it, as a tool, from the top. `limits`: what the lowest of
 * them leaves to agents in this run, with the microcredits that it may charge.
 */
export type CallLineage = {
  withheldScopes: readonly string[];
  agents?: readonly string[];
  limits?: (AgentBounds & { budget?: number }) | undefined;
};

export type Outcome =
  /** The fields of `OfAgentStep` are those of a step under an agent. */
  | ({ kind: 'completed'; result: JsonValue; log?: string[]; consumed?: Consumption[] } & OfAgentStep)
  | { kind: 'waiting'; task: TaskRequest }
  /**
   * The step is carried out by steps that are added to the run: those of its own graph, once for each of `items`, or
   * those of an agent, which start from `agent`. The step is executed again when they have ended.
   */
  | { kind: 'expanding'; plan: ExpansionPlan; items: JsonValue[]; agent?: JsonMap; log?: string[] }
  /** The step calls a run. It is executed again when that run has completed, unless it does not wait for it. */
  | { kind: 'calling'; call: WorkflowCall; log?: string[] }
  /** The step continues at `until`, in ms since the epoch; it holds no slot until then. */
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
 * the workflow of the graph being checked; absent if it has none yet.
 */
export type CheckScope = { tenantId: string; projectId: string; inLoop?: boolean; workflowId?: string };

/** The graph around a step, as its check sees it, with methods to report problems. */
export type GraphCheck = {
  /** Ids of the steps that depend on this one. */
  readonly dependents: readonly string[];
  /** Returns another dependency of `dependent`, by which it runs whatever branch this step takes; undefined: none. */
  certainDependency(dependent: string): string | undefined;
  /** Whether the step is in a loop, and may read `item` and `index`. */
  readonly inLoop: boolean;
  /** Reports a problem at `path` unless `step`, which is read there, precedes this one. */
  reads(step: string, path: string, as: 'error' | 'warning'): void;
  /** Reports a problem at `path`, where `item` or `index` is read, unless the step is in a loop. */
  readsItem(path: string): void;
  error(problem: StepProblem): void;
  warn(problem: StepProblem): void;
};

/** Step types of a kind have one color in the console. */
export type StepFamily = 'logic' | 'code' | 'people' | 'requests' | 'ai' | 'workflows';

/** The facts about a step type that the rest of the product needs. */
export type StepTypeDescription = {
  /** Its name in the console. */
  readonly label: string;
  /** The name of its icon, which components/graph/step-icon.tsx draws. */
  readonly icon: string;
  readonly family: StepFamily;
  /**
   * The actions for which an attempt is charged in addition to the step itself; credits for one of each are
   * reserved before it begins.
   */
  readonly billable: readonly Consumption['action'][];
  /** The field that names what an attempt uses, such as a tool or a model; usage is listed by it. */
  readonly subject?: string;
  /**
   * The source of the text in its results: people of the workspace or the service itself (`inside`), what its templates
   * read, or anything that came before it. Absent: outside of the workspace, or unknown.
   */
  readonly origin?: 'inside' | 'templates' | 'anything';
  /** The scope, or scopes, that starting a version with steps of this type requires in addition to `workflow:run`. */
  readonly startScope?: Scope | readonly Scope[];
  /** Its steps end with `complete_task`. Their `timeout_s` limits the time that people have, not the attempt. */
  readonly waitsForPeople?: true;
  /** Its steps end with `complete_task` if they ask a person about a call that may have happened. */
  readonly asksInDoubt?: true;
};

/** The reason why a trial does not execute a step. */
export type StandInReason = 'writes' | 'sends' | 'asks_people' | 'waits' | 'starts_runs' | 'unknown_tool' | 'unseen';

/** The facts about a step that are known before a trial. */
export type TrialFacts = {
  /** The tool that the step calls, in its published version; undefined if it calls none, or that is not known. */
  readonly tool: McpTool | undefined;
  /** Whether the person may send requests: a viewer's trial sends none. */
  readonly maySend: boolean;
  /** The instant at which the trial begins. */
  readonly now: string;
};

/**
 * The destinations of the steps of a type, known before the run: the hosts of these URLs and MCP instances, and of the
 * tools that these agents have.
 */
export type Reached = { urls?: readonly string[]; instances?: readonly string[]; agents?: readonly string[] };

/** How a trial of a proposal treats the steps of a type (docs/autopilot.md). */
export type StepTrial = {
  /** Its steps name an instance and a tool. */
  readonly callsTool?: true;
  /** Returns why the step is replaced by a stand-in; null if it is executed. */
  replacedBecause(step: GraphStep, facts: TrialFacts): StandInReason | null;
  /** Its steps send nothing to other systems, except requests to the models of the workspace. Default: they may. */
  readonly staysInside?: true;
  /** Returns where the step sends something; null if only the run decides that. Default: it sends nothing by itself. */
  reaches?(step: GraphStep): Reached | null;
  /** Returns an example result for a replaced step; null by default. */
  example?(step: GraphStep, facts: TrialFacts): JsonValue;
};

/**
 * One step type: its fields, its checks at publish time and its execution. A new type is a folder, and a line in each registry. `execute` never throws for an error that a user can cause: such an error is an outcome. It
 * must settle soon after `signal` aborts (timeout, stop, shutdown); the executor enforces `timeout_s` through that
 * signal and ignores any later result.
 */
export type StepType = StepTypeDescription &
  StepDefaults & {
    readonly type: string;
    /** Strict zod object of the type's own fields, without the common ones. */
    readonly fields: z.ZodObject;
    /** Whether a graph with this type may be published; otherwise `message` says why not. */
    readonly available: true | { message: string };
    /** Only other steps add it to a run: a graph that has it is not valid. */
    readonly internal?: true;
    /**
     * It depends on things outside of the graph that may appear or disappear, so `check` of a disabled step only warns.
     */
    readonly external?: boolean;
    /**
     * Attempts may wait in a queue of the type's own; then `timeout_s` counts from
     * `Attempt.began`, not from the dispatch.
     */
    readonly queues?: boolean;
    /**
     * Its attempts mostly wait for an external answer and use almost no CPU, so they take no slots
     * from attempts that use CPU.
     */
    readonly io?: boolean;
    /**
     * Ids of the steps whose results `execute` may read, or `all` ancestors. Large results are loaded before it
     * begins; they stay available until it first awaits or, for a type that `queues`, until the attempt ends.
     * Default: all, until it ends.
     */
    reads?(step: GraphStep): Iterable<string> | 'all';
    /**
     * Semantic checks other than of templates (which are checked for all string fields): Lua compiles, CEL
     * parses, a form is a JSON Schema.
     */
    check(step: GraphStep, scope: CheckScope): Promise<StepProblem[]> | StepProblem[];
    /** Semantic checks that need the rest of the graph: what the step reads there, and which steps it names. */
    checkInGraph?(step: GraphStep, graph: GraphCheck): void;
    /**
     * Its own fields that contain data rather than logic or authority: an author may open them to
     * overrides (`overridable`).
     */
    readonly dataFields: readonly string[];
    /** The `dataFields` in which a start may itself replace templates of the run's input, even if they are not opened. */
    readonly filledFields?: readonly string[];
    /** Fields, including common ones, that decide who approves, when and how: no run can override them. */
    readonly approvalFields?: readonly string[];
    /** Its attempts reserve what they may cost by themselves, because that depends on their fields. */
    readonly reserves?: true;
    /** Whether this step decides if later steps run: a check or an approval. */
    readonly decides?: true;
    /** Fields whose templates do not belong to the step: Lua scripts, the steps of a loop. */
    readonly rawFields: readonly string[];
    /** Default: its steps are replaced, like steps that write. */
    readonly trial?: StepTrial;
    /**
     * Returns the outcome of a step that only computes, and takes a moment; undefined: `execute` does it. It must have
     * no effect, since the outcome may be decided before the start of the step is committed, and lost with it.
     */
    atOnce?(attempt: Attempt): Outcome | undefined;
    execute(attempt: Attempt, signal: AbortSignal): Promise<Outcome>;
  };

/** The step types of this process, by name. */
export type StepTypes = ReadonlyMap<string, StepType>;
