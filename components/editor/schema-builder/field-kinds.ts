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

/** The labels and icons of the field kinds, in the order in which they are offered. */
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

/** Returns the label and the icon of a field kind. */
export const lookOf = (kind: FieldKind): Look => LOOKS[kind];

/** Returns the labels of a kind's limits; null if the kind has no limits. */
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
