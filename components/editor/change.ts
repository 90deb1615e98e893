import type { Edit } from '../../server/domains/workflows/edits/index.ts';
import { toast } from '../ui/toaster.tsx';
import type { StepsStore } from './loop-store.ts';

/** Applies edits as one step of the history. Shows why edits were refused, and which Lua scripts still use the old id of a renamed step. */
export function change(store: StepsStore, edits: readonly Edit[], key: string | null = null): boolean {
  if (edits.length === 0) return false;
  const result = store.change(edits, key);
  if (!result.ok) {
    toast.error(result.message);
    return false;
  }
  const [first] = result.unrewritten;
  if (first !== undefined) {
    const places = result.unrewritten.map(({ step, field, line }) => `${step}, ${field}, line ${line}`);
    toast.warning('Scripts still use the old ID. Change it here:', {
      description: places.join('; '),
      duration: 15_000,
    });
  }
  return true;
}
