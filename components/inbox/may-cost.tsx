'use client';
import { creditsInWords } from '../ui/credits.tsx';

/** Says what the call that an approval allows may cost at most; nothing for tasks that allow none, and where nothing is charged. */
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
