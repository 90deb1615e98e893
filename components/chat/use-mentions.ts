'use client';
import { type KeyboardEvent, type RefObject, useId, useState } from 'react';
import { mentionText } from '@/server/operation/mentions.ts';
import { type Entry, optionId, useMentionEntries } from './mention-list.tsx';
import { mentionAt } from './mention-query.ts';

type Field = RefObject<HTMLTextAreaElement | null>;
/** The text and the caret for which the list was closed. It stays closed until they change. */
type Place = { text: string; caret: number };

/**
 * Returns the mentions for a field: the list for the text after an `@`, the handler for its keys, and the ARIA attributes of the field.
 */
export function useMentions(field: Field, onChange: (text: string) => void) {
  const list = useId();
  const [place, setPlace] = useState<Place | null>(null);
  const [moved, setMoved] = useState({ to: 0, query: '' });
  const found = place === null ? null : mentionAt(place.text, place.caret);
  const entries = useMentionEntries(found?.query ?? null);
  const selected = Math.min(moved.query === found?.query ? moved.to : 0, entries.length - 1);
  const isOpen = found !== null && entries.length > 0;
  const select = (to: number) => setMoved({ to, query: found?.query ?? '' });
  const choose = (entry: Entry) => {
    const { current } = field;
    if (current === null || found === null || place === null) return;
    current.setRangeText(`${mentionText(entry)} `, found.start, place.caret, 'end');
    setPlace(null);
    onChange(current.value);
  };
  /** Handles a key of the list. Returns false for other keys. */
  const onKey = (event: KeyboardEvent): boolean => {
    const entry = entries[selected];
    if (!isOpen || entry === undefined || event.nativeEvent.isComposing) return false;
    switch (event.key) {
      case 'ArrowDown':
        select((selected + 1) % entries.length);
        break;
      case 'ArrowUp':
        select((selected + entries.length - 1) % entries.length);
        break;
      case 'Enter':
      case 'Tab':
        if (event.shiftKey) return false;
        choose(entry);
        break;
      case 'Escape':
        setPlace(null);
        break;
      default:
        return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    isOpen,
    onKey,
    onText: (text: string, caret: number) => setPlace({ text, caret }),
    close: () => setPlace(null),
    list: { id: list, entries, selected, onSelect: select, onChoose: choose },
    aria: {
      'aria-autocomplete': 'list' as const,
      'aria-controls': isOpen ? list : undefined,
      'aria-activedescendant': isOpen ? optionId(list, selected) : undefined,
    },
  };
}
