'use client';
import type { FieldHelp } from '../../ui/field.tsx';
import { HelpTip } from '../../ui/help-tip.tsx';

/**
 * The maximum length of a hint. Longer explanations are shown behind a button, so that the fields stay close together.
 */
const MAX_HINT_LENGTH = 56;

/**
 * Returns an explanation as field props: a short one as a hint below the control, a long one as help behind a button.
 */
export function explained(text: string | undefined, about: string): { hint?: string; help?: FieldHelp } {
  if (text === undefined || text === '') return {};
  if (text.length <= MAX_HINT_LENGTH) return { hint: text };
  return { help: id => <HelpTip {...{ id, about }}>{text}</HelpTip> };
}
