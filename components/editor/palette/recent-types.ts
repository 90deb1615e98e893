import { isTexts } from '@/server/platform/json.ts';
import { readStored, store } from '../../ui/browser-storage.ts';

const KEY = 'baton:recent-steps';
const MAX_TYPES = 6;

/** Returns the types of the most recently added steps in this browser, latest first. */
export function readRecentTypes(): string[] {
  const kept = readStored(KEY);
  return isTexts(kept) ? kept.slice(0, MAX_TYPES) : [];
}

/** Stores that a step of this type was added. */
export function keepRecentType(type: string): void {
  store(KEY, [type, ...readRecentTypes().filter(each => each !== type)].slice(0, MAX_TYPES));
}
