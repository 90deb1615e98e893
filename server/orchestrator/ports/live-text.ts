/**
 * A piece of what a model is writing. `index` is the place of its part in the answer; `arguments` are those of the call whose
 * `tool_call` came before.
 */
export type LivePiece =
  | { type: 'text' | 'reasoning' | 'arguments'; index: number; text: string }
  | { type: 'tool_call'; index: number; id: string; name: string };

/** A piece, and the attempt that it belongs to. */
export type AttemptPiece = LivePiece & { step: string; attempt: number };

/** The text that attempts of this process are writing now. It is only in memory: the event log has it once they end. */
export type LiveText = {
  /** Registers an attempt that writes; `end` forgets what it wrote. */
  begin(attempt: { runId: string; step: string; attempt: number }): { write(piece: LivePiece): void; end(): void };
  /** Returns what the open attempts of a run have written so far, one piece for each part, and calls the listener with every later piece. */
  follow(runId: string, listener: (piece: AttemptPiece) => void): { written: AttemptPiece[]; unfollow(): void };
};
