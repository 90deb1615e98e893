import { readError } from '../trpc/errors.ts';

/** Says that a draft could not be saved, and what a person can do where repeating it cannot help. */
export function describeSaveFailure({ error, retryAt }: { error: unknown; retryAt: number | null }): string {
  if (retryAt !== null) return 'Not saved. Trying again';
  const { status, message, details } = readError(error);
  switch (status) {
    case 403:
      return 'Not saved: you can no longer edit this workflow. Ask an admin of the workspace for access.';
    case 404:
      return 'Not saved: this workflow no longer exists. Copy your changes from JSON into a new one.';
    case 413:
      return 'Not saved: this draft is too large. Shorten scripts, texts or sample data.';
    case 422:
      return `Not saved: ${details[0]?.message ?? message} Change it to save the draft.`;
    default:
      return `Not saved: ${message}`;
  }
}
