'use client';
import { CircleAlert } from 'lucide-react';
import { RadioGroup } from 'radix-ui';
import { useId, useState } from 'react';
import type { Conflict, Json, Side } from '../../server/domains/workflows/edits/index.ts';
import { Button } from '../ui/button.tsx';
import type { Draft } from './use-draft.ts';

const keyOf = ({ step, field }: Conflict) => `${step ?? ''}\n${field ?? ''}`;

/** What two people changed differently, part by part: both sides, and which one to keep. Nothing is saved until this is decided. */
export function ConflictPanel({ draft }: { draft: Draft }) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Side>>(new Map());
  const [pending, setPending] = useState(false);
  const { conflicts } = draft.state;
  if (conflicts.length === 0) return null;
  const open = conflicts.filter(conflict => !chosen.has(keyOf(conflict))).length;
  const resolve = async (choose: (conflict: Conflict) => Side | undefined) => {
    setPending(true);
    await draft.resolve(choose);
    setPending(false);
    setChosen(new Map());
  };
  return (
    <section aria-label="Conflict" className="rounded-lg border border-bad/40 bg-surface">
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <CircleAlert aria-hidden className="size-4 text-bad" />
        <p role="alert" className="min-w-0 flex-1 basis-60 text-sm">
          Somebody else has changed this draft. Your changes are not saved until you choose what to keep; everything
          else is merged.
        </p>
        <Button size="sm" pending={pending} onClick={() => void resolve(() => 'theirs')}>
          Take theirs
        </Button>
        <Button size="sm" pending={pending} onClick={() => void resolve(() => 'ours')}>
          Keep mine
        </Button>
        <Button
          size="sm"
          variant="primary"
          pending={pending}
          disabled={open > 0}
          title={open > 0 ? `${open} still to choose` : undefined}
          onClick={() => void resolve(conflict => chosen.get(keyOf(conflict)))}
        >
          Use my choices
        </Button>
      </div>
      <ul className="max-h-80 divide-y overflow-y-auto">
        {conflicts.map(conflict => (
          <ConflictRow
            key={keyOf(conflict)}
            conflict={conflict}
            value={chosen.get(keyOf(conflict))}
            onChange={side => setChosen(new Map(chosen).set(keyOf(conflict), side))}
          />
        ))}
      </ul>
    </section>
  );
}

type RowProps = { conflict: Conflict; value: Side | undefined; onChange: (side: Side) => void };

function ConflictRow({ conflict, value, onChange }: RowProps) {
  const id = useId();
  const { step, field } = conflict;
  return (
    <li className="flex flex-col gap-2 p-3">
      <p id={id} className="text-sm">
        {step === null ? null : <code>{step}</code>}
        {step !== null && field !== null ? ', ' : null}
        {field === null ? step === null ? null : ': the whole step' : <code>{field}</code>}
      </p>
      <RadioGroup.Root
        aria-labelledby={id}
        value={value ?? ''}
        onValueChange={side => onChange(side as Side)}
        className="grid gap-2 sm:grid-cols-2"
      >
        <SideChoice side="ours" label="Mine" conflict={conflict} />
        <SideChoice side="theirs" label="Theirs" conflict={conflict} />
      </RadioGroup.Root>
    </li>
  );
}

function SideChoice({ side, label, conflict }: { side: Side; label: string; conflict: Conflict }) {
  return (
    <RadioGroup.Item
      value={side}
      className="min-w-0 rounded-md border bg-surface p-2 text-left hover:bg-hover data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft"
    >
      <span className="block text-xs font-medium">{label}</span>
      <code className="block max-h-32 overflow-hidden text-xs whitespace-pre-wrap wrap-anywhere text-muted">
        {side in conflict ? textOf(conflict[side]) : 'Removed'}
      </code>
    </RadioGroup.Item>
  );
}

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
