import { isObject } from '@/server/platform/json.ts';
import { readStored, store } from '../../ui/browser-storage.ts';

/** Whether each loop is open, by its node in the whole draft. A loop that was never opened or closed is missing. */
export type OpenLoops = Readonly<Record<string, boolean>>;

const MAX_KEPT = 200;
const keyOf = (workflow: string) => `baton:open-loops:${workflow}`;

/** Returns which loops of a workflow a person opened and closed in this browser. */
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
