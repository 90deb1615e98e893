'use client';
import { creditsInWords } from '../ui/credits.tsx';

/**
 * Shows the maximum cost of the call that an approval allows; nothing if the task allows no call or credits are not
 * charged.
 */
export function MayCost({ microcredits }: { microcredits: number | null | undefined }) {
  if (microcredits === undefined) return null;
  return (
    <p className="text-sm text-muted">
      {microcredits === null
        ? 'The cost of the call is unknown, because it may start or continue runs.'
        : `The call costs at most ${creditsInWords(microcredits)}.`}
    </p>
  );
}
