/** A start that cannot succeed until the operator does something; `message` is the one line that says what. */
export class StartupError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), options);
    this.name = 'StartupError';
  }
}

/** A start that only other settings or files can mend: starting again with the same ones is of no use. */
export class MisconfiguredError extends StartupError {
  override readonly name = 'MisconfiguredError';
}

/** The message of anything that was thrown, on one line. */
export function reason(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  return message.replaceAll(/\s*\n\s*/g, ' ').trim();
}
