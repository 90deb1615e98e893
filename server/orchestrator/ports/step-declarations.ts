import type { Graph, JsonMap, JsonValue } from '../core/index.ts';

type Step = Readonly<Record<string, unknown>>;

/** The help that the editor shows for a step type, beside the descriptions of its fields. */
export type StepHelp = {
  /** A description of what the step does, in a sentence or two. */
  readonly what: string;
  /** A description of the result that later steps read. */
  readonly result: string;
  /** Defaults and limits that surprise people. */
  readonly facts: readonly string[];
  /** A whole workflow in which the step `example` has this type; a test checks it. */
  readonly example: Graph;
  /** If the example needs nothing outside of Baton: an input, and the result of `example` with it. A test runs it. */
  readonly run?: { input: JsonMap; result: JsonValue };
  /** Other words that find the type. */
  readonly words: readonly string[];
  /** The types that often follow it, the likeliest first. */
  readonly next: readonly string[];
};

/** The console's preview of a step that has not been executed. In a draft, any field may be missing or have any type. */
export type StepPreview = {
  /** The fields that a new step has, so that it can run before anything is typed. */
  readonly starter?: JsonMap;
  /** Describes the effect of executing the step: the tool that it calls, the address to which it sends, or its question. */
  readonly liveEffect?: (step: Step) => string;
  /**
   * Returns an example of its result (docs/specification/steps.md), whose keys are what completion offers; absent where the
   * result may be any value. `exampleOf` returns an example of what a JSON Schema describes.
   */
  readonly result?: (step: Step, exampleOf: (schema: unknown) => JsonValue) => JsonValue;
  /**
   * Returns what the step does, such as “GET api.example.com/orders”; null where its fields do not say it yet. `nameOf` returns the name
   * of a workflow or an agent; undefined where it is not known.
   */
  readonly summary?: (step: Step, nameOf: (id: string) => string | undefined) => string | null;
};

/**
 * A field that names something by its id, or by a list of ids. `list`: the field is in the entries of this list; `entryType`: only in
 * those of this type. `version`: the field that names the version.
 */
export type NamingField = {
  readonly field: string;
  readonly list?: string;
  readonly entryType?: string;
  readonly version?: string;
};

/** The fields of a step type that name other things of the workspace; everything that looks into graphs for them reads it here. */
export type StepReferences = {
  /** The step's field with the id of a connection. */
  readonly connection?: string;
  /** The step's field with a model, as `provider/model`. */
  readonly model?: string;
  /** Where instances of MCP servers are named. */
  readonly instances?: readonly NamingField[];
  /** Where agents are named. A run of the step may start runs of theirs. */
  readonly agents?: readonly NamingField[];
  /** Where workflows are named of which a run of the step may start others. */
  readonly workflows?: readonly NamingField[];
};

/** The limits of an attempt of a step that sets none. */
export type StepDefaults = {
  /** Seconds; null = none. */
  readonly defaultTimeoutS: number | null;
  /** Whether a step may set `retry_count`. */
  readonly retries: boolean;
};

/** The facts about a step type that only the server needs, beside its execution. */
export type StepFacts = StepDefaults & {
  /** The default of `timeout_s` that is documented, where other steps do the work and have limits of their own. */
  readonly documentedTimeoutS?: number;
  /** Its fields and its result in a line or two, for the prompt that teaches a model to build workflows. */
  readonly guide: string;
  readonly references: StepReferences;
  /** Its steps act with the rights of the person who starts the run. */
  readonly actsForPerson?: true;
  /** Its steps run only where the deployment has this feature. */
  readonly feature?: 'agents';
};
