import {
  apply,
  type Draft,
  type Edit,
  idsInLoop,
  type Step,
  type Unrewritten,
} from '../../server/domains/workflows/edits/index.ts';
import { stepsOfLoop } from '../graph/loop-steps.ts';
import type { ChangeResult, EditorState, EditorStore } from './editor-store.ts';

/** The part of a store that canvas and forms use to edit its steps. */
export type StepsStore = Pick<EditorStore, 'state' | 'change' | 'undo' | 'redo'> & {
  /** Ids that no new step may have, beside those of its own steps. */
  readonly reservedIds?: readonly string[];
  /** The number of loops around its steps; absent: none. */
  readonly depth?: number;
  /** The ids of the steps around these loops, which its own steps may read. */
  readonly aroundIds?: readonly string[];
};
/** A draft as canvas and forms edit it: all of it, or the steps of a loop. */
export type StepsDraft = { state: EditorState; store: StepsStore };

/** Returns the steps of the loop at `path`, the ids of loops with the outermost first; null where there is none. */
export function stepsAt(steps: readonly Step[], path: readonly string[]): readonly Step[] | null {
  let level: readonly Step[] | null = steps;
  for (const id of path) {
    const loop: Step | undefined = level.find(step => step.id === id);
    level = loop === undefined ? null : stepsOfLoop(loop);
    if (level === null) return null;
  }
  return level;
}

/** Returns the steps with others in the loop at `path`. */
function withStepsAt(
  steps: readonly Step[],
  [id, ...rest]: readonly string[],
  inner: readonly Step[],
): readonly Step[] {
  if (id === undefined) return inner;
  return steps.map(step => {
    if (step.id !== id) return step;
    return { ...step, steps: withStepsAt(stepsOfLoop(step) ?? [], rest, inner) } as Step;
  });
}

/** The ids of all steps, those in loops included. */
const allIds = (steps: readonly Step[]): string[] => steps.flatMap(step => [step.id, ...idsInLoop(step)]);

/** The ids of the steps around the loop at `path`: its own steps read those by the same names. */
function idsAround(steps: readonly Step[], path: readonly string[]): Set<string> {
  return new Set(path.flatMap((_, depth) => (stepsAt(steps, path.slice(0, depth)) ?? []).map(({ id }) => id)));
}

/** The id that an edit gives a step; undefined for an edit that gives none. */
function newId(edit: Edit): string | undefined {
  if (edit.type === 'rename_step') return edit.to;
  return edit.type === 'add_step' || edit.type === 'insert_between' ? edit.step.id : undefined;
}

/** The steps of a loop as a draft of their own. What changes it changes the loop, as one step of the same history. */
export class LoopStore implements StepsStore {
  readonly #store: EditorStore;
  readonly #path: readonly string[];
  #seen: { outer: EditorState; state: EditorState } | null = null;

  /** `path`: the ids of the loop and of those around it, the outermost first. */
  constructor(store: EditorStore, path: readonly string[]) {
    this.#store = store;
    this.#path = path;
  }

  /** The state of the store with the loop's steps as the graph; without steps once the loop is gone. */
  get state(): EditorState {
    const outer = this.#store.state;
    if (this.#seen?.outer === outer) return this.#seen.state;
    const steps = stepsAt(outer.draft.graph.steps, this.#path) ?? [];
    const last = this.#seen?.state.draft;
    // Typing elsewhere must not redraw the loop.
    const draft: Draft = last?.graph.steps === steps ? last : { ...outer.draft, graph: { steps }, run_setup: {} };
    const state = { ...outer, draft };
    this.#seen = { outer, state };
    return state;
  }

  get reservedIds(): readonly string[] {
    return allIds(this.#store.state.draft.graph.steps);
  }

  get depth(): number {
    return this.#path.length;
  }

  get aroundIds(): readonly string[] {
    return [...idsAround(this.#store.state.draft.graph.steps, this.#path)];
  }

  /** Applies edits to the steps of the loop, all or none. */
  change(edits: readonly Edit[], key: string | null = null): ChangeResult {
    let { draft } = this.state;
    const unrewritten: Unrewritten[] = [];
    const around = idsAround(this.#store.state.draft.graph.steps, this.#path);
    for (const edit of edits) {
      const id = newId(edit);
      if (id !== undefined && around.has(id))
        return { ok: false, message: `There is a step "${id}" outside the loop already.` };
      const result = apply(draft, edit);
      if (!result.ok) return { ok: false, message: result.problem.message };
      draft = result.draft;
      unrewritten.push(...result.unrewritten);
    }
    const [loop = '', ...rest] = this.#path;
    const { steps } = this.#store.state.draft.graph;
    const inner = stepsAt(steps, [loop]);
    if (inner === null) return { ok: false, message: 'The loop no longer exists.' };
    const set = { steps: withStepsAt(inner, rest, draft.graph.steps) };
    const change: Edit = { type: 'update_step', step: loop, set };
    const result = this.#store.change([change], key === null ? null : `${this.#path.join('.')}.${key}`);
    return result.ok ? { ok: true, unrewritten } : result;
  }

  undo(): string | null {
    return this.#store.undo();
  }

  redo(): string | null {
    return this.#store.redo();
  }
}
