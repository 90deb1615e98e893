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

/** The part of a store that canvas and forms need to edit steps. */
export type StepsStore = Pick<EditorStore, 'state' | 'change' | 'undo' | 'redo'> & {
  /** Ids that no new step may have, besides the ids of the store's own steps. */
  readonly reservedIds?: readonly string[];
  /** The number of loops around the steps; absent if there are none. */
  readonly depth?: number;
  /** The ids of the steps around these loops, whose results the steps may read. */
  readonly aroundIds?: readonly string[];
};
/** A draft as canvas and forms edit it: the whole draft, or the steps of a loop. */
export type StepsDraft = { state: EditorState; store: StepsStore };

/** Returns the steps of the loop at `path`, the ids of loops with the outermost first; null if the loop does not exist. */
export function stepsAt(steps: readonly Step[], path: readonly string[]): readonly Step[] | null {
  let level: readonly Step[] | null = steps;
  for (const id of path) {
    const loop: Step | undefined = level.find(step => step.id === id);
    level = loop === undefined ? null : stepsOfLoop(loop);
    if (level === null) return null;
  }
  return level;
}

/** Returns the steps with the steps of the loop at `path` replaced. */
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

/** Returns the ids of all steps, including the steps of loops. */
const allIds = (steps: readonly Step[]): string[] => steps.flatMap(step => [step.id, ...idsInLoop(step)]);

/** Returns the ids of the steps around the loop at `path`. The steps of the loop read them by id, so they must not be reused. */
function idsAround(steps: readonly Step[], path: readonly string[]): Set<string> {
  return new Set(path.flatMap((_, depth) => (stepsAt(steps, path.slice(0, depth)) ?? []).map(({ id }) => id)));
}

/** Returns the id that an edit gives to a step; undefined if it gives none. */
function newId(edit: Edit): string | undefined {
  if (edit.type === 'rename_step') return edit.to;
  return edit.type === 'add_step' || edit.type === 'insert_between' ? edit.step.id : undefined;
}

/** The steps of a loop as a draft. A change of these steps changes the loop, as one step of the shared history. */
export class LoopStore implements StepsStore {
  readonly #store: EditorStore;
  readonly #path: readonly string[];
  #seen: { outer: EditorState; state: EditorState } | null = null;

  /** `path` holds the ids of the loop and of the loops around it, the outermost first. */
  constructor(store: EditorStore, path: readonly string[]) {
    this.#store = store;
    this.#path = path;
  }

  /** The state of the draft with the loop's steps as its graph; without steps once the loop is removed. */
  get state(): EditorState {
    const outer = this.#store.state;
    if (this.#seen?.outer === outer) return this.#seen.state;
    const steps = stepsAt(outer.draft.graph.steps, this.#path) ?? [];
    const last = this.#seen?.state.draft;
    // Reused, so that typing elsewhere does not render the loop again.
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

  /** Applies all edits or none to the steps of the loop. */
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
