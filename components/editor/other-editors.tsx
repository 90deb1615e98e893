'use client';
import { PencilLine } from 'lucide-react';
import type { Person } from './editor-store.ts';
import { presenceOf } from './people.ts';

/**
 * Shows who else edits the draft, including other windows of the user. The element is always rendered, so that screen readers notice a
 * change.
 */
export function OtherEditors({ people, otherWindow }: { people: readonly Person[]; otherWindow: boolean }) {
  return (
    <span role="status" aria-label="Other editors" className="inline-flex items-center gap-1 font-medium text-info">
      {people.length === 0 && !otherWindow ? null : (
        <>
          <PencilLine aria-hidden className="size-3.5" />
          {presenceOf(people, otherWindow)}
        </>
      )}
    </span>
  );
}
