import { isTexts } from '@/server/platform/json.ts';
import { readStored, store } from '../../ui/browser-storage.ts';

const KEY = 'baton:recent-steps';
const MAX = 6;

/** Returns the types of the steps that were added last in this browser, the latest first. */
export function readRecentTypes(): string[] {
  const kept = readStored(KEY);
  return isTexts(kept) ? kept.slice(0, MAX) : [];
}

/** Notes that a step of this type was added. */
export function keepRecentType(type: string): void {
  store(KEY, [type, ...readRecentTypes().filter(each => each !== type)].slice(0, MAX));
}
