/**
 * The draft of a workflow and its edits as data. This folder imports nothing from the server, so that the browser and the server run the same
 * code. Values are immutable: an edit shares the parts that it does not change.
 */
export type Json = string | number | bigint | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type Fields = { readonly [field: string]: Json };

/** A step with any fields. Validation checks the fields against the type. */
export type Step = Fields & { readonly id: string; readonly type: string };
export type Position = { readonly x: number; readonly y: number };

/** A text on the canvas. Runs ignore it. */
export type Note = Fields & { readonly id: string; readonly text: string; readonly position: Position };
/** The workflow that is started when a run fails. */
export type FailureHandler = { readonly workflow_id: string };
/** Offers the published workflow as a tool. */
export type WorkflowTool = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly read_only?: boolean | undefined;
};
export type Graph = {
  readonly steps: readonly Step[];
  readonly notes?: readonly Note[] | undefined;
  readonly input_schema?: Fields | undefined;
  readonly output?: Json | undefined;
  readonly on_failure?: FailureHandler | undefined;
  /** The templates of searchable values, by name. */
  readonly searchable?: Fields | undefined;
  readonly tool?: WorkflowTool | undefined;
};
/** The fields of a graph besides its steps and notes. */
export const GRAPH_FIELDS = ['input_schema', 'output', 'on_failure', 'searchable', 'tool'] as const;
export type GraphField = (typeof GRAPH_FIELDS)[number];

export type Draft = {
  readonly name: string;
  readonly description: string;
  readonly graph: Graph;
  readonly run_setup: Fields;
};

export type Branch = 'then' | 'else';

/** A change of a draft that a person, a program or an assistant makes. */
export type Edit =
  /** Adds a step at index `at`. Default: at the end. */
  | { type: 'add_step'; step: Step; at?: number | undefined }
  /** Sets and removes fields of a step. Only `rename_step` changes the `id`. */
  | { type: 'update_step'; step: string; set?: Fields | undefined; unset?: readonly string[] | undefined }
  /** Renames a step and all references to it in the draft. */
  | { type: 'rename_step'; step: string; to: string }
  /** Removes a step. `heal`: its dependents depend on its dependencies instead. */
  | { type: 'remove_step'; step: string; heal?: boolean | undefined }
  /** Makes `to` depend on `from`. `branch`: also adds `to` to this branch of the condition `from`. */
  | { type: 'connect'; from: string; to: string; branch?: Branch | undefined }
  | { type: 'disconnect'; from: string; to: string }
  /** Inserts a new step between two connected steps. It replaces `to` in the branches of `from`. */
  | { type: 'insert_between'; from: string; to: string; step: Step }
  /** Moves a step on the canvas. Null: the layout places it. */
  | { type: 'move'; step: string; position: Position | null }
  /** Adds a note, or replaces the one with its id. */
  | { type: 'set_note'; note: Note }
  | { type: 'remove_note'; note: string }
  /** Sets and removes fields of the graph itself. */
  | {
      type: 'update_graph';
      set?: Partial<Pick<Graph, GraphField>> | undefined;
      unset?: readonly GraphField[] | undefined;
    }
  | { type: 'set_run_setup'; run_setup: Fields }
  | { type: 'set_details'; name?: string | undefined; description?: string | undefined }
  | Restore;

/** The inverse of an edit. It restores exactly the parts that the edit changed, and keeps later changes of other parts. */
export type Restore = {
  type: 'restore';
  steps: readonly StepRestore[];
  /** The order of the ids, if the edit changed it. */
  order?: readonly string[] | undefined;
  notes?: readonly NoteRestore[] | undefined;
  /** Whether the draft had no list of notes. An empty list is then removed. */
  without_notes?: boolean | undefined;
  /** Sets and removes fields of the graph, and orders all of them like `keys`. */
  graph?: { set: Fields; unset: readonly string[]; keys: readonly string[] } | undefined;
  run_setup?: Fields | undefined;
  name?: string | undefined;
  description?: string | undefined;
};
export type StepRestore =
  | { change: 'add'; step: Step }
  | { change: 'remove'; step: string }
  /** Sets and removes fields including `id`, and orders them like `keys`. */
  | { change: 'update'; step: string; set: Fields; unset: readonly string[]; keys: readonly string[] };

export type NoteRestore =
  | { change: 'remove'; note: string }
  /** Replaces the note, or inserts it at index `at`. */
  | { change: 'put'; note: Note; at: number };

/** The reason why an edit cannot be applied: a code for programs and a message for people. */
export type EditProblem = {
  code:
    | 'step_not_found'
    | 'step_exists'
    | 'note_not_found'
    | 'invalid_step_id'
    | 'invalid_index'
    | 'id_not_editable'
    | 'type_not_removable'
    | 'not_connected'
    | 'connects_itself'
    | 'would_be_cycle'
    | 'not_a_condition';
  message: string;
};

/** A reference to a renamed step in Lua, which cannot be rewritten safely. `line` counts from 1. */
export type Unrewritten = { step: string; field: string; line: number; text: string };

export type Applied = { draft: Draft; inverse: Restore; unrewritten: readonly Unrewritten[] };
export type ApplyResult = ({ ok: true } & Applied) | { ok: false; problem: EditProblem };

/** The pattern of a step id. */
export const STEP_ID = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The fields of a graph besides its steps and notes. */
export function graphFields(graph: Graph): Fields {
  const { steps: _steps, notes: _notes, ...fields } = graph;
  return fields as Fields;
}

/** Returns the ids in a field such as `depends_on`. Other values are ignored. */
export function idsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((id): id is string => typeof id === 'string') : [];
}

/** Returns whether two JSON values are equal, ignoring the order of keys. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => sameJson(item, b[at]))
    );
  }
  const [left, right] = [a as Fields, b as Fields];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every(key => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  );
}

/** Returns whether two JSON values are equal including the order of keys, in which forms show their fields. */
export function identicalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => identicalJson(item, b[at]))
    );
  }
  const [left, right] = [Object.entries(a as Fields), Object.entries(b as Fields)];
  return (
    left.length === right.length &&
    left.every(([key, value], at) => key === right[at]?.[0] && identicalJson(value, right[at][1]))
  );
}

/** Sets and removes fields, and keeps the places of keys. The object is built from entries, so that a key may be `__proto__`. */
export function withFields(fields: Fields, set: Fields, unset: readonly string[] = []): Fields {
  const kept = new Map(Object.entries(fields).filter(([key]) => !unset.includes(key)));
  for (const [key, value] of Object.entries(set)) kept.set(key, value);
  return Object.fromEntries(kept);
}

/** Sets and removes fields of a step. Returns the same object if no field differs. `id` and `type` are never removed. */
export function withStepFields(step: Step, set: Fields, unset: readonly string[] = []): Step {
  const removed = unset.filter(key => key !== 'id' && key !== 'type' && Object.hasOwn(step, key));
  const differs = Object.entries(set).some(
    ([key, value]) => !Object.hasOwn(step, key) || !identicalJson(step[key], value),
  );
  return removed.length > 0 || differs ? (withFields(step, set, removed) as Step) : step;
}
