'use client';
import { PencilLine } from 'lucide-react';
import type { Person } from './editor-store.ts';
import { namesOf } from './people.ts';

/** Says who else edits the draft. Its place is always there, so that screen readers notice a change. */
export function OtherEditors({ people }: { people: readonly Person[] }) {
  return (
    <span role="status" aria-label="Other editors" className="inline-flex items-center gap-1 font-medium text-info">
      {people.length === 0 ? null : (
        <>
          <PencilLine aria-hidden className="size-3.5" />
          {namesOf(people)} {people.length === 1 ? 'is' : 'are'} editing
        </>
      )}
    </span>
  );
}
