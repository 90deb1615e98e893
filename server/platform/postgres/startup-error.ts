/** The start cannot succeed until the operator acts; `message` is one line that says how. */
export class StartupError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message.replaceAll(/\s*\n\s*/g, ' '), options);
    this.name = 'StartupError';
  }
}

/** The start needs other settings or files: starting again with the same ones cannot help. */
export class MisconfiguredError extends StartupError {
  override readonly name = 'MisconfiguredError';
}

/** Returns the message of anything that was thrown, on one line. */
export function reason(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  return message.replaceAll(/\s*\n\s*/g, ' ').trim();
}
