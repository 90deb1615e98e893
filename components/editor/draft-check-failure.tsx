'use client';
import { CircleAlert, LoaderCircle } from 'lucide-react';
import { Button } from '../ui/button.tsx';
import { readError } from '../ui/errors.ts';
import type { Validation } from './use-draft.ts';

/** Replaces the list of problems while the server cannot check the draft. The check is retried automatically. */
export function DraftCheckFailure({ validation }: { validation: Validation }) {
  const { error, isRetried, checking, retry } = validation;
  const why = readError(error).message;
  return (
    <section
      aria-label="Problems"
      className="flex h-7 shrink-0 items-center gap-2 border-t bg-surface px-3 text-xs text-muted"
    >
      {checking ? (
        <LoaderCircle aria-hidden className="size-3.5 shrink-0 animate-spin" />
      ) : (
        <CircleAlert aria-hidden className="size-3.5 shrink-0 text-warn" />
      )}
      <p role="status" className="min-w-0 truncate" title={why}>
        The draft could not be checked{isRetried ? '. Trying again by itself.' : `: ${why}`}
      </p>
      <Button size="sm" variant="ghost" onClick={retry}>
        Try again
      </Button>
    </section>
  );
}
