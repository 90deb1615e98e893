'use client';
import type { FieldHelp } from '../../ui/field.tsx';
import { HelpTip } from '../../ui/help-tip.tsx';

/** Explanations that are longer stand behind a button, so that the fields stay together. */
const MAX_HINT_LENGTH = 56;

/** Returns an explanation as a field shows it: a short one beneath the control, a long one behind a button. */
export function explained(text: string | undefined, about: string): { hint?: string; help?: FieldHelp } {
  if (text === undefined || text === '') return {};
  if (text.length <= MAX_HINT_LENGTH) return { hint: text };
  return { help: id => <HelpTip {...{ id, about }}>{text}</HelpTip> };
}
