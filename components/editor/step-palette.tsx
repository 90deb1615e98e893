'use client';
import { Command } from 'cmdk';
import { Dialog as Radix, VisuallyHidden } from 'radix-ui';
import { stepTypeLook } from '../graph/step-icon.tsx';
import { STEP_TYPE_FORMAT } from './canvas/use-drop.ts';
import type { Place } from './editor-actions.ts';
import type { StepTypeForm } from './step-fields.ts';

type PaletteProps = {
  types: readonly StepTypeForm[];
  /** Where the step goes; null: closed. */
  place: Place | null;
  onChoose: (type: string, place: Place) => void;
  onClose: () => void;
};

/** Asks for the type of a new step. */
export function StepPalette({ types, place, onChoose, onClose }: PaletteProps) {
  return (
    <Radix.Root open={place !== null} onOpenChange={open => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          // The canvas moves the focus to the new step, or back to where it was.
          onCloseAutoFocus={event => event.preventDefault()}
          className="fixed top-[12vh] left-1/2 z-40 w-[calc(100vw-32px)] max-w-100 -translate-x-1/2 overflow-hidden rounded-xl border bg-surface shadow-pop animate-in"
        >
          <VisuallyHidden.Root>
            <Radix.Title>Add a step</Radix.Title>
          </VisuallyHidden.Root>
          <Command label="Types of steps" loop>
            <Command.Input
              autoFocus
              placeholder={place === null ? '' : promptFor(place)}
              className="h-11 w-full border-b bg-transparent px-4 text-base outline-none"
            />
            <Command.List className="max-h-80 overflow-y-auto p-1">
              <Command.Empty className="px-3 py-6 text-center text-sm text-muted">
                No step type has this name.
              </Command.Empty>
              {types.map(({ type, unavailable }) => {
                const { icon: Icon, label } = stepTypeLook(type);
                return (
                  <Command.Item
                    key={type}
                    value={`${label} ${type}`}
                    onSelect={() => place && onChoose(type, place)}
                    className="flex cursor-default items-center gap-3 rounded-md px-3 py-2 text-sm data-[selected=true]:bg-hover"
                  >
                    <Icon aria-hidden className="size-4 shrink-0 text-muted" />
                    <span className="flex-1">{label}</span>
                    <code className="text-xs text-faint">{unavailable === null ? type : 'Not available here'}</code>
                  </Command.Item>
                );
              })}
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function promptFor(place: Place): string {
  switch (place.kind) {
    case 'between':
      return `Step between ${place.from} and ${place.to} …`;
    case 'after':
      return place.branch ? `Step after ${place.step}, ${place.branch} …` : `Step after ${place.step} …`;
    case 'free':
      return 'Step …';
  }
}

/** The types of steps beside the canvas: a click adds one after the selected step, dragging puts it where it is dropped. */
export function StepStrip({ types, onAdd }: { types: readonly StepTypeForm[]; onAdd: (type: string) => void }) {
  return (
    <div
      role="toolbar"
      aria-label="Step types"
      className="flex flex-wrap gap-1 rounded-lg border bg-surface p-1 shadow-sm"
    >
      {types.map(({ type }) => {
        const { icon: Icon, label } = stepTypeLook(type);
        return (
          <button
            key={type}
            type="button"
            draggable
            aria-label={`Add ${label}`}
            title={`${label}: click to add, or drag to the canvas`}
            onDragStart={event => {
              event.dataTransfer.setData(STEP_TYPE_FORMAT, type);
              event.dataTransfer.effectAllowed = 'copy';
            }}
            onClick={() => onAdd(type)}
            className="flex size-8 cursor-grab items-center justify-center rounded-md text-muted hover:bg-hover hover:text-text"
          >
            <Icon aria-hidden className="size-4" />
          </button>
        );
      })}
    </div>
  );
}
