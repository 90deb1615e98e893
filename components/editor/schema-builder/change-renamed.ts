import type { Edit } from '../../../server/domains/workflows/edits/index.ts';
import { toast } from '../../ui/toaster.tsx';
import { change } from '../change.ts';
import type { StepsStore } from '../loop-store.ts';
import { type FieldRename, type FormOwner, planFieldRename, scriptsReading } from './rename-field.ts';

type Renaming = {
  owner: FormOwner;
  renamed: FieldRename;
  /** The edit that changes the form itself. */
  edit: Edit;
  /** Successive changes with the same key are one step of the history. */
  key: string;
};

/** Renames a form field and its references as one step of the history. Shows which scripts still use the old name. */
export function changeRenamed(store: StepsStore, { owner, renamed, edit, key }: Renaming): void {
  const { graph } = store.state.draft;
  const scripts = scriptsReading(graph, owner, renamed);
  if (!change(store, [edit, ...planFieldRename(graph, owner, renamed)], key) || scripts.length === 0) return;
  toast.warning(`Scripts still use the old name “${renamed.from}”. Change it here:`, {
    id: key,
    description: scripts.join(', '),
    duration: 15_000,
  });
}
