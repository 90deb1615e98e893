import { isObject } from '../../platform/json.ts';
import { STEP_ID } from '../steps/common-fields.ts';
import { type GraphProblem, ProblemList } from './problem-list.ts';

export const MAX_STEPS = 2_000;
const MAX_NOTES = 200;
const MAX_GRAPH_BYTES = 1024 * 1024;
const DEEPEST = 60;
/** Fields of one step: no type has 30, and examining 80,000 takes half a second. */
const MAX_STEP_FIELDS = 200;

const problem = (step_id: string | null, path: string, code: string, message: string): GraphProblem => ({
  step_id,
  path,
  code,
  message,
});

/** Returns whether a value is nested deeper than `left` levels; stops there, so that no input can exhaust the stack. */
function tooDeep(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (left === 0) return true;
  return Object.values(value).some(item => tooDeep(item, left - 1));
}

/** Whether a string or key in the value contains text that PostgreSQL cannot store: NUL or half of a surrogate pair. */
function unstorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed() || value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(unstorable);
  return Object.entries(value).some(([key, item]) => unstorable(key) || unstorable(item));
}

/** Counts steps, including those of loops, down to the depth at which steps can be published. */
function countSteps(steps: unknown, left: number): number {
  if (!Array.isArray(steps) || left === 0) return 0;
  return steps.reduce<number>((sum, step) => sum + 1 + (isObject(step) ? countSteps(step.steps, left - 1) : 0), 0);
}

/** Whether the step, or a step inside it, has more fields than any type has. */
function hasTooManyFields(step: object, left: number): boolean {
  if (Object.keys(step).length > MAX_STEP_FIELDS) return true;
  if (left === 0 || !('steps' in step) || !Array.isArray(step.steps)) return false;
  return step.steps.some(inner => isObject(inner) && hasTooManyFields(inner, left - 1));
}

function stepShape(step: unknown, index: number): GraphProblem[] {
  const at = `steps[${index}]`;
  if (!isObject(step)) return [problem(null, at, 'step_not_object', 'a step must be an object')];
  if (hasTooManyFields(step, DEEPEST)) {
    return [problem(null, at, 'too_many_fields', `a step has at most ${MAX_STEP_FIELDS} fields`)];
  }
  const id = typeof step.id === 'string' && STEP_ID.test(step.id) ? step.id : null;
  const found: GraphProblem[] = [];
  for (const field of ['id', 'type'] as const) {
    if (typeof step[field] !== 'string') {
      found.push(problem(id, `${at}.${field}`, 'field_not_string', `${field} must be a string`));
    }
  }
  if (tooDeep(step, DEEPEST))
    return [...found, problem(id, at, 'nested_too_deep', `a step is nested more than ${DEEPEST} levels deep`)];
  if (unstorable(step))
    found.push(problem(id, at, 'text_not_storable', 'texts must be well-formed and must not contain NUL characters'));
  return found;
}

/** Notes on the canvas, which no run reads. The schema of the request checks their content. */
function notesShape(notes: unknown): ProblemList {
  const found = new ProblemList();
  if (notes === undefined) return found;
  if (!Array.isArray(notes) || notes.length > MAX_NOTES || !notes.every(isObject)) {
    found.push(problem(null, 'notes', 'notes_shape', `notes are a list of at most ${MAX_NOTES} objects`));
    return found;
  }
  const ids = new Set<unknown>();
  for (const [index, note] of notes.entries()) {
    const at = `notes[${index}]`;
    if (tooDeep(note, DEEPEST)) found.push(problem(null, at, 'nested_too_deep', 'a note is nested too deep'));
    else if (unstorable(note))
      found.push(problem(null, at, 'text_not_storable', 'texts must be well-formed and hold no NUL character'));
    if (ids.has(note.id)) found.push(problem(null, `${at}.id`, 'duplicate_note', 'two notes have this id'));
    ids.add(note.id);
  }
  return found;
}

/** The fields of a graph. */
const GRAPH_FIELDS: ReadonlySet<string> = new Set([
  'steps',
  'notes',
  'input_schema',
  'output',
  'on_failure',
  'searchable',
  'tool',
]);

/** The fields of a graph that are objects. */
const OBJECT_FIELDS: ReadonlySet<string> = new Set(['input_schema', 'on_failure', 'searchable', 'tool']);

/** The values of the graph itself, besides its steps and notes. */
function graphValueShape(field: string, value: unknown): GraphProblem[] {
  if (OBJECT_FIELDS.has(field) && value !== undefined && !isObject(value))
    return [problem(null, field, 'field_not_object', `${field} must be an object`)];
  if (tooDeep(value, DEEPEST))
    return [problem(null, field, 'nested_too_deep', `${field} is nested more than ${DEEPEST} levels deep`)];
  if (unstorable(value))
    return [problem(null, field, 'text_not_storable', 'texts must be well-formed and must not contain NUL characters')];
  return [];
}

/**
 * Returns the problems that even a draft must not have (docs/specification/workflows.md#drafts): the JSON shape, the
 * size and the number of steps. Empty if the graph can be saved.
 */
export function checkShape(graph: unknown): GraphProblem[] {
  if (!isObject(graph) || !Array.isArray(graph.steps)) {
    return [problem(null, '', 'graph_shape', 'a graph is an object {"steps": […]}')];
  }
  const unknown = Object.keys(graph).filter(key => !GRAPH_FIELDS.has(key));
  if (unknown.length > 0)
    return [problem(null, unknown[0] ?? '', 'unknown_field', `a graph has no field "${unknown[0]?.slice(0, 80)}"`)];
  const count = countSteps(graph.steps, DEEPEST);
  if (count > MAX_STEPS) {
    const message = `a graph has at most ${MAX_STEPS} steps; this one has ${count}`;
    return [problem(null, 'steps', 'too_many_steps', message)];
  }
  const notes = notesShape(graph.notes);
  if (notes.count > 0) return notes.toReport();
  const { input_schema, output, on_failure, searchable, tool } = graph;
  const values = Object.entries({ input_schema, output, on_failure, searchable, tool }).flatMap(([field, value]) =>
    graphValueShape(field, value),
  );
  if (values.length > 0) return values;
  const found = new ProblemList();
  let isTooDeep = false;
  for (const [index, step] of graph.steps.entries()) {
    for (const item of stepShape(step, index)) {
      found.push(item);
      isTooDeep ||= item.code === 'nested_too_deep';
    }
  }
  if (!isTooDeep && Buffer.byteLength(JSON.stringify(graph)) > MAX_GRAPH_BYTES) {
    found.push(problem(null, '', 'graph_too_large', 'a graph must not exceed 1 MiB as JSON'));
  }
  return found.toReport();
}
