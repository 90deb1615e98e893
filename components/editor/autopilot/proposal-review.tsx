'use client';
import { Button } from '../../ui/button.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import type { Proposal } from './proposal.ts';

/** Lists the authors of a proposal's changes; nothing if it has one author and no agent. */
export function Authors({ changes }: Pick<Proposal, 'changes'>) {
  const isPlain = changes.length < 2 && changes.every(({ by_agent: byAgent }) => !byAgent);
  if (isPlain) return null;
  return (
    <ul aria-label="History of changes" className="flex flex-col gap-0.5 text-xs text-muted">
      {changes.map(({ by, by_agent: byAgent, edits, at, answer }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a change is identified by its position
        <li key={index} className="wrap-anywhere">
          {index === 0 ? 'Made' : 'Changed'} {byAgent ? 'by an agent for' : 'by'} {by}, {edits}{' '}
          {edits === 1 ? 'edit' : 'edits'}, <RelativeTime at={at} />
          {answer === null ? null : `; answered: “${answer}”`}
        </li>
      ))}
    </ul>
  );
}

/** Shows that the proposal has changed since it was opened, until a person has reviewed it again. */
export function ReviewAgain({ changes, onReviewed }: Pick<Proposal, 'changes'> & { onReviewed: () => void }) {
  const last = changes.at(-1);
  return (
    <div role="status" className="flex flex-col items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
      <p>
        {last === undefined
          ? 'The proposal has changed'
          : `${last.by_agent ? 'An agent' : last.by} has changed the proposal`}{' '}
        since you opened it. Review it again before you apply it.
      </p>
      <Button size="sm" onClick={onReviewed}>
        I have reviewed the changes
      </Button>
    </div>
  );
}
