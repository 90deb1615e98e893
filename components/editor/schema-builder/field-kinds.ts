import {
  AtSign,
  Calendar,
  CalendarClock,
  ChevronDownSquare,
  Clock,
  Hash,
  Link,
  ListChecks,
  type LucideIcon,
  Pilcrow,
  Sigma,
  ToggleRight,
  Type,
} from 'lucide-react';
import type { FieldKind } from './field-view.ts';

type Look = { label: string; icon: LucideIcon };

/** The kinds of fields as people choose them, in the order in which they are offered. */
const LOOKS: Readonly<Record<FieldKind, Look>> = {
  text: { label: 'Text', icon: Type },
  long: { label: 'Long text', icon: Pilcrow },
  number: { label: 'Number', icon: Sigma },
  integer: { label: 'Whole number', icon: Hash },
  yes_no: { label: 'Yes or no', icon: ToggleRight },
  choice: { label: 'Choice', icon: ChevronDownSquare },
  choices: { label: 'Several choices', icon: ListChecks },
  date: { label: 'Date', icon: Calendar },
  datetime: { label: 'Date and time', icon: CalendarClock },
  time: { label: 'Time', icon: Clock },
  email: { label: 'Email', icon: AtSign },
  link: { label: 'Link', icon: Link },
};

export const FIELD_KINDS = Object.keys(LOOKS) as FieldKind[];

/** Returns how a kind of field is called and drawn. */
export const lookOf = (kind: FieldKind): Look => LOOKS[kind];

/** Returns what the limits of a kind are called; null: it has none. */
export function limitLabels(kind: FieldKind): readonly [min: string, max: string] | null {
  switch (kind) {
    case 'text':
    case 'long':
      return ['Min. characters', 'Max. characters'];
    case 'number':
    case 'integer':
      return ['Minimum', 'Maximum'];
    case 'choices':
      return ['Min. choices', 'Max. choices'];
    default:
      return null;
  }
}
