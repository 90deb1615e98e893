'use client';
import { Command } from 'cmdk';
import { Search, X } from 'lucide-react';
import { useDeferredValue, useEffect, useId, useRef, useState } from 'react';
import type { GraphStepInput } from '../../graph/layout.ts';
import { StepTile } from '../../graph/step-icon.tsx';
import { IconButton } from '../../ui/button.tsx';
import { STEP_TYPE_FORMAT } from '../canvas/use-drop.ts';
import type { NewStep, Place } from '../editor-actions.ts';
import type { StepTypeForm } from '../step-fields.ts';
import { entryOf, groupsOf, type PaletteEntry, type PaletteGroup, search } from './palette-entries.ts';
import { keepRecentType, readRecentTypes } from './recent-types.ts';
import { useConnectedTools } from './use-connected-tools.ts';

/** The minimum length of a search text that also finds tools of connected servers. */
const MIN_SEARCH = 2;
const MAX_TOOLS = 50;

type PaletteProps = {
  types: readonly StepTypeForm[];
  place: Place;
  /** The steps of the graph; the new one may go after one of them. */
  steps: readonly GraphStepInput[];
  onChoose: (step: NewStep) => void;
  onClose: () => void;
};

/** The palette of steps over the canvas. A click or Enter adds a step, and a drag adds it at the drop position. */
export function StepPalette({ types, place, steps, onChoose, onClose }: PaletteProps) {
  const [text, setText] = useState('');
  const [recent] = useState(readRecentTypes);
  const before = place.kind === 'after' ? place.step : place.kind === 'between' ? place.from : null;
  const typeBefore = steps.find(({ id }) => id === before)?.type ?? null;
  const groups = useGroups({ types, typeBefore, recent }, text);
  // cmdk would select the first entry before the search has finished.
  const first = groups.entries[0]?.entries[0]?.key ?? '';
  const [chosen, setChosen] = useState(first);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new search starts at its first entry, even if that entry is the same
  useEffect(() => setChosen(first), [first, text]);
  const frame = useRef<HTMLDivElement>(null);
  useCloseOutside(frame, onClose);
  const choose = (entry: PaletteEntry) => {
    keepRecentType(entry.type);
    onChoose({ type: entry.type, fields: entry.fields });
  };
  return (
    <div
      ref={frame}
      role="dialog"
      aria-label="Add a step"
      className="absolute inset-y-2 left-2 z-10 flex w-80 max-w-[calc(100%-1rem)] animate-in flex-col overflow-hidden rounded-lg border bg-surface shadow-pop"
      onKeyDown={event => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onClose();
      }}
    >
      <Command
        label="Steps"
        loop
        shouldFilter={false}
        value={chosen}
        onValueChange={setChosen}
        className="flex min-h-0 flex-1 flex-col"
      >
        <div className="flex h-11 shrink-0 items-center gap-2 border-b pr-1.5 pl-3">
          <Search aria-hidden className="size-3.5 shrink-0 text-faint" />
          <Command.Input
            autoFocus
            value={text}
            onValueChange={setText}
            placeholder={promptFor(place, id => nameOf(steps, id))}
            className="h-full min-w-0 flex-1 bg-transparent text-sm outline-none"
          />
          <IconButton label="Close" size="sm" tooltip={false} onClick={onClose}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </div>
        <Command.List className="min-h-0 flex-1 overflow-y-auto p-1">
          {groups.entries.map(({ title, entries }) => (
            <Command.Group
              key={title}
              heading={title}
              className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted"
            >
              {entries.map(entry => (
                <Entry key={entry.key} entry={entry} onChoose={() => choose(entry)} />
              ))}
            </Command.Group>
          ))}
          {groups.entries.length === 0 ? (
            <p className="px-3 py-6 text-center text-sm text-muted">
              {groups.isLoading ? 'Searching the tools of connected servers…' : 'No step or tool has this name.'}
            </p>
          ) : null}
        </Command.List>
      </Command>
    </div>
  );
}

/** Returns the groups to show: suggestions without a search, otherwise the matching types and connected tools. */
function useGroups(
  known: Parameters<typeof groupsOf>[0],
  text: string,
): { entries: PaletteGroup[]; isLoading: boolean } {
  const typed = useDeferredValue(text.trim());
  const tools = useConnectedTools(typed.length >= MIN_SEARCH);
  if (typed === '') return { entries: groupsOf(known), isLoading: false };
  const found = search(known.types.map(entryOf), typed);
  const foundTools = typed.length < MIN_SEARCH ? [] : search(tools.entries, typed).slice(0, MAX_TOOLS);
  const groups = [
    { title: 'Steps', entries: found },
    { title: 'Tools of connected servers', entries: foundTools },
  ];
  return { entries: groups.filter(({ entries }) => entries.length > 0), isLoading: tools.isLoading };
}

function Entry({ entry, onChoose }: { entry: PaletteEntry; onChoose: () => void }) {
  const id = useId();
  const { key, type, label, sentence, unavailable, fields } = entry;
  return (
    <Command.Item
      value={key}
      aria-label={label}
      aria-describedby={id}
      onSelect={onChoose}
      draggable={fields === undefined}
      onDragStart={event => {
        event.dataTransfer.setData(STEP_TYPE_FORMAT, type);
        event.dataTransfer.effectAllowed = 'copy';
      }}
      className="flex cursor-default items-start gap-3 rounded-md px-2 py-1.5 data-[selected=true]:bg-hover"
    >
      <StepTile type={type} className="mt-0.5" />
      <span className="min-w-0 flex-1">
        <span className="block truncate text-sm">{label}</span>
        <span id={id} className="line-clamp-2 text-xs text-muted">
          {unavailable === null ? sentence : `Not available here. ${unavailable}`}
        </span>
      </span>
    </Command.Item>
  );
}

/** Closes the palette when something outside of it is pressed. */
function useCloseOutside(frame: React.RefObject<HTMLElement | null>, onClose: () => void): void {
  const latest = useRef(onClose);
  latest.current = onClose;
  useEffect(() => {
    const onPress = ({ target }: PointerEvent) => {
      if (target instanceof Node && frame.current?.contains(target) === false) latest.current();
    };
    document.addEventListener('pointerdown', onPress);
    return () => document.removeEventListener('pointerdown', onPress);
  }, [frame]);
}

function nameOf(steps: readonly GraphStepInput[], id: string): string {
  const name = steps.find(step => step.id === id)?.name;
  return typeof name === 'string' && name !== '' ? name : id;
}

function promptFor(place: Place, name: (id: string) => string): string {
  switch (place.kind) {
    case 'between':
      return `Step between ${name(place.from)} and ${name(place.to)} …`;
    case 'after':
      return place.branch ? `Step after ${name(place.step)}, ${place.branch} …` : `Step after ${name(place.step)} …`;
    case 'free':
      return 'Step or tool …';
  }
}
