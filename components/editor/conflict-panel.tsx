'use client';
import { Check, CircleAlert } from 'lucide-react';
import { type KeyboardEvent, useId, useState } from 'react';
import type { Conflict, Json, Side } from '../../server/domains/workflows/edits/index.ts';
import { StepTile } from '../graph/step-icon.tsx';
import { useSession } from '../session/session.tsx';
import { Button } from '../ui/button.tsx';
import { type ConflictGroup, changeOfSide, groupConflicts, keyOf } from './conflict-groups.ts';
import { otherSide } from './people.ts';
import type { Draft } from './use-draft.ts';

type Chosen = ReadonlyMap<string, Side>;

/** Shows the conflicting changes of two people, by step: both sides, and a choice between them. Nothing is saved until the user decides. */
export function ConflictPanel({ draft }: { draft: Draft }) {
  const { me } = useSession();
  const [chosen, setChosen] = useState<Chosen>(new Map());
  const [pending, setPending] = useState(false);
  const { conflicts, savedBy } = draft.state;
  if (conflicts.length === 0) return null;
  const open = conflicts.filter(conflict => !chosen.has(keyOf(conflict))).length;
  const who = otherSide(savedBy, me.user.id);
  const isMine = savedBy.length > 0 && savedBy.every(({ id }) => id === me.user.id);
  const resolve = async (choose: (conflict: Conflict) => Side | undefined) => {
    setPending(true);
    await draft.resolve(choose);
    setPending(false);
    setChosen(new Map());
  };
  return (
    <section aria-label="Conflict" className="border-b border-bad/40 bg-surface">
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <CircleAlert aria-hidden className="size-4 text-bad" />
        <p role="alert" className="min-w-0 flex-1 basis-60 text-sm">
          {who} also changed this draft. Your changes are not saved until you choose what to keep. Everything else is
          merged.
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
          title={open > 0 ? `${open} left to resolve` : undefined}
          onClick={() => void resolve(conflict => chosen.get(keyOf(conflict)))}
        >
          Resolve
        </Button>
      </div>
      <ul aria-label="Conflicting steps" className="max-h-96 divide-y overflow-y-auto">
        {groupConflicts(conflicts).map(group => (
          <StepConflicts
            key={group.step ?? ''}
            group={group}
            draft={draft}
            who={isMine ? 'You, elsewhere,' : who}
            chosen={chosen}
            onChoose={(some, side) =>
              setChosen(new Map([...chosen, ...some.map(each => [keyOf(each), side] as const)]))
            }
          />
        ))}
      </ul>
    </section>
  );
}

type GroupProps = {
  group: ConflictGroup;
  draft: Draft;
  /** The people who made the other side. */
  who: string;
  chosen: Chosen;
  onChoose: (conflicts: readonly Conflict[], side: Side) => void;
};

/** The conflicts of one step: both sides of each field, and a choice of one side for the whole step. */
function StepConflicts({ group: { step, conflicts }, draft, who, chosen, onChoose }: GroupProps) {
  return (
    <li className="flex flex-col gap-2 p-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="flex min-w-0 flex-1 basis-40 items-center gap-2 text-sm font-medium">
          {step === null ? 'The workflow and its notes' : <StepTitle id={step} draft={draft} />}
        </h2>
        {conflicts.length > 1 ? (
          <>
            <Button size="sm" onClick={() => onChoose(conflicts, 'ours')}>
              Keep all of mine
            </Button>
            <Button size="sm" onClick={() => onChoose(conflicts, 'theirs')}>
              Take all of theirs
            </Button>
          </>
        ) : null}
      </div>
      {conflicts.map(conflict => (
        <FieldConflict
          key={keyOf(conflict)}
          conflict={conflict}
          who={who}
          value={chosen.get(keyOf(conflict))}
          onChange={side => onChoose([conflict], side)}
        />
      ))}
    </li>
  );
}

function StepTitle({ id, draft }: { id: string; draft: Draft }) {
  const { steps } = draft.state.draft.graph;
  const step = steps.find(each => each.id === id) ?? draft.store.base.draft.graph.steps.find(each => each.id === id);
  return (
    <>
      {step === undefined ? null : <StepTile type={step.type} size="sm" />}
      {typeof step?.name === 'string' && step.name !== '' ? <span className="truncate">{step.name}</span> : null}
      <code className="truncate text-xs text-muted">{id}</code>
    </>
  );
}

type FieldProps = { conflict: Conflict; who: string; value: Side | undefined; onChange: (side: Side) => void };

function FieldConflict({ conflict, who, value, onChange }: FieldProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <p id={id} className="text-xs text-muted">
        {conflict.field === null ? 'The whole step' : <code>{conflict.field}</code>}
      </p>
      <div role="radiogroup" aria-labelledby={id} onKeyDown={onChoiceKey} className="grid gap-2 sm:grid-cols-2">
        {(['ours', 'theirs'] as const).map(side => (
          <SideChoice
            key={side}
            conflict={conflict}
            side={side}
            label={`${side === 'ours' ? 'You' : who} ${changeOfSide(conflict, side)}`}
            checked={side === value}
            takesTab={side === (value ?? 'ours')}
            onChoose={() => onChange(side)}
          />
        ))}
      </div>
    </div>
  );
}

/** The keys of two radio buttons: an arrow chooses the other one. Enter does nothing, as with any radio button. */
function onChoiceKey(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' && !event.key.startsWith('Arrow')) return;
  event.preventDefault();
  const other = [...event.currentTarget.children].find(choice => choice !== document.activeElement);
  if (event.key === 'Enter' || !(other instanceof HTMLElement)) return;
  other.focus();
  other.click();
}

type ChoiceProps = {
  conflict: Conflict;
  side: Side;
  label: string;
  checked: boolean;
  takesTab: boolean;
  onChoose: () => void;
};

/** A radio button with the value of one side. Radix' would add 2 KiB to the editor. */
function SideChoice({ conflict, side, label, checked, takesTab, onChoose }: ChoiceProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: an input cannot contain the value that it chooses
    <button
      type="button"
      role="radio"
      aria-checked={checked}
      tabIndex={takesTab ? 0 : -1}
      onClick={onChoose}
      className="min-w-0 rounded-md border bg-surface p-2 text-left hover:bg-hover aria-checked:border-accent aria-checked:bg-accent-soft"
    >
      <span className="flex items-center justify-between text-xs font-medium">
        {label}
        {checked ? <Check aria-hidden className="size-3.5 text-accent-text" /> : null}
      </span>
      <code className="block max-h-48 overflow-y-auto text-xs whitespace-pre-wrap wrap-anywhere text-muted">
        {side in conflict ? textOf(conflict[side]) : 'Removed'}
      </code>
    </button>
  );
}

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
