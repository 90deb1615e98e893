import { readError } from '../ui/errors.ts';

/** Returns the message for a failed save, with advice if a retry cannot help. */
export function describeSaveFailure({ error, retryAt }: { error: unknown; retryAt: number | null }): string {
  if (retryAt !== null) return 'Not saved. Trying again';
  const { status, message, details } = readError(error);
  switch (status) {
    case 403:
      return 'Not saved: you can no longer edit this. Ask an admin for access.';
    case 404:
      return 'Not saved: this workflow is gone. Copy your changes from JSON.';
    case 413:
      return 'Not saved: the draft is too large. Shorten its scripts or texts.';
    case 422:
      return `Not saved: ${details[0]?.message ?? message} Change it to save the draft.`;
    default:
      return `Not saved: ${message}`;
  }
}
