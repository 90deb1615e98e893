import { isObject } from '@/server/platform/json.ts';
import { readStored, store } from '../../ui/browser-storage.ts';

/** Whether each loop is expanded, by node id in the whole draft. A loop that the user never expanded or collapsed is missing. */
export type OpenLoops = Readonly<Record<string, boolean>>;

const MAX_KEPT = 200;
const keyOf = (workflow: string) => `baton:open-loops:${workflow}`;

/** Returns the loops of a workflow that the user expanded or collapsed in this browser. */
export function readOpenLoops(workflow: string): OpenLoops {
  const kept = readStored(keyOf(workflow));
  if (!isObject(kept)) return {};
  return Object.fromEntries(
    Object.entries(kept).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'),
  );
}

export function keepOpenLoops(workflow: string, open: OpenLoops): void {
  store(keyOf(workflow), Object.fromEntries(Object.entries(open).slice(-MAX_KEPT)));
}
