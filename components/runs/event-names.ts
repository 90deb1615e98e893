import type { NameOf } from '../ui/json-tree.tsx';
import { runOf } from './run-of.tsx';
import type { Called } from './step-names.tsx';

const STEP_FIELDS: ReadonlySet<string | null> = new Set(['step_id', 'caused_by_step_id', 'from_step']);
const RUN_FIELDS: ReadonlySet<string | null> = new Set(['run_id', 'root_run_id', 'parent_run_id']);

type Named = { id: string; name: string };

/**
 * Returns a function from an id in the data of an event to a name: of a step, of a named object, or of a run by its
 * time.
 */
export function eventNames(things: readonly Named[], called: Called): NameOf {
  const names = new Map(things.map(({ id, name }) => [id, name]));
  return (text, field) => {
    const name = names.get(text);
    if (name !== undefined) return name;
    if (RUN_FIELDS.has(field)) return runOf(text);
    // Results can have fields with these names, too. Only the ids of steps of the run are replaced by a name.
    const isStep = STEP_FIELDS.has(field) || (field === 'id' && text.includes('.'));
    return isStep && called(text) !== text ? called(text) : undefined;
  };
}
