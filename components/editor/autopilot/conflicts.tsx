'use client';
import { CircleAlert } from 'lucide-react';
import { NamedStep } from '../../runs/step-names.tsx';
import { groupConflicts, keyOf } from '../conflict-groups.ts';
import type { Proposal } from './proposal.ts';

type Conflict = Proposal['conflicts'][number];

/** Lists the conflicts between a proposal and the draft with both sides; nothing without conflicts. */
export function Conflicts({ conflicts }: { conflicts: Proposal['conflicts'] }) {
  if (conflicts.length === 0) return null;
  return (
    <section aria-label="Conflicts" className="rounded-md border border-bad/40">
      <p className="flex items-start gap-2 border-b px-3 py-2 text-sm">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        The draft has changed in the same places. Apply the other steps, or edit these yourself.
      </p>
      <ul className="divide-y">
        {groupConflicts(conflicts).map(group => (
          <li key={group.step ?? ''} className="flex flex-col gap-2 px-3 py-2">
            <h3 className="text-sm font-medium wrap-anywhere">
              {group.step === null ? 'The workflow' : <NamedStep id={group.step} />}
            </h3>
            {group.conflicts.map(conflict => (
              <Sides key={keyOf(conflict)} conflict={conflict} />
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Sides({ conflict }: { conflict: Conflict }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="text-xs text-muted">{conflict.field === null ? 'The whole step' : <code>{conflict.field}</code>}</p>
      <dl className="grid gap-2 sm:grid-cols-2">
        <Side name="Proposal" conflict={conflict} side="proposal" />
        <Side name="Draft" conflict={conflict} side="draft" />
      </dl>
    </div>
  );
}

function Side({ name, conflict, side }: { name: string; conflict: Conflict; side: 'proposal' | 'draft' }) {
  const value = conflict[side];
  return (
    <div className="min-w-0 rounded-md border bg-sunken p-2">
      <dt className="text-xs font-medium">{name}</dt>
      <dd className="font-mono text-xs whitespace-pre-wrap wrap-anywhere text-muted">
        {side in conflict ? (typeof value === 'string' ? value : JSON.stringify(value, null, 2)) : 'Removed'}
      </dd>
    </div>
  );
}
