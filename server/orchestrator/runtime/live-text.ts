import type { AttemptPiece, LivePiece, LiveText } from '../ports/live-text.ts';

/** The most characters of an attempt that are shown live. Its result has the whole text. */
export const MAX_LIVE_CHARS = 4_000_000;

type Open = { step: string; attempt: number; parts: Map<string, LivePiece>; length: number };
type Run = { open: Set<Open>; listeners: Set<(piece: AttemptPiece) => void> };

/** Creates the live text of a process. It is only in memory, so that a token costs no row. */
export function createLiveText(): LiveText {
  const runs = new Map<string, Run>();
  const runOf = (runId: string): Run => {
    const run = runs.get(runId) ?? { open: new Set(), listeners: new Set() };
    runs.set(runId, run);
    return run;
  };
  const release = (runId: string, { open, listeners }: Run) => {
    if (open.size === 0 && listeners.size === 0) runs.delete(runId);
  };
  return {
    begin({ runId, step, attempt }) {
      const run = runOf(runId);
      const open: Open = { step, attempt, parts: new Map(), length: 0 };
      run.open.add(open);
      return {
        write(piece) {
          if (!run.open.has(open) || !add(open, piece)) return;
          for (const listener of run.listeners) listener({ ...piece, step, attempt });
        },
        end() {
          run.open.delete(open);
          release(runId, run);
        },
      };
    },
    follow(runId, listener) {
      const run = runOf(runId);
      run.listeners.add(listener);
      const written = [...run.open].flatMap(({ step, attempt, parts }) =>
        [...parts.values()].map(piece => ({ ...piece, step, attempt })),
      );
      return {
        written,
        unfollow() {
          run.listeners.delete(listener);
          release(runId, run);
        },
      };
    },
  };
}

/** Adds a piece to its part. Returns false beyond the limit. */
function add(open: Open, piece: LivePiece): boolean {
  open.length += piece.type === 'tool_call' ? piece.name.length : piece.text.length;
  if (open.length > MAX_LIVE_CHARS) return false;
  const key = `${piece.index} ${piece.type}`;
  const present = open.parts.get(key);
  if (piece.type === 'tool_call') open.parts.set(key, piece);
  else if (present === undefined || present.type === 'tool_call') open.parts.set(key, { ...piece });
  else present.text += piece.text;
  return true;
}
