/** The least pause between two events of a stream in the run's log, at its beginning. */
const MIN_PAUSE_MS = 250;
/**
 * Each later pause is this part of the stream's duration so far: 60 s have some 70 events, 300 s some 100, and the
 * first seconds have frequent ones.
 */
const PAUSE_SHARE = 1 / 20;
/** Text of this length is logged without waiting for its end, in characters. */
const MAX_PENDING_LENGTH = 4_096;
/** A step's log ends at this size anyway (docs/specification/limits.md#sizes); bytes of UTF-8. */
const MAX_LOG_BYTES = 64 * 1024;

/**
 * Turns pieces of a text, a word each, into few batches of lines: one at most every 250 ms, later fewer, or for every 4 KiB. Lines end
 * where the text has a line break; one that grows on for longer is cut between words.
 */
export class StreamedLines {
  readonly #now: () => number;
  readonly #log: (lines: string[]) => void;
  readonly #began: number;
  #last: number;
  #pending = '';
  #logged = 0;

  /** `now` is ms since the epoch. */
  constructor(now: () => number, log: (lines: string[]) => void) {
    this.#now = now;
    this.#log = log;
    this.#began = now();
    this.#last = this.#began;
  }

  add(piece: string): void {
    if (this.#logged > MAX_LOG_BYTES) return;
    this.#pending += piece;
    const now = this.#now();
    const pause = Math.max(MIN_PAUSE_MS, (this.#last - this.#began) * PAUSE_SHARE);
    if (now - this.#last < pause && this.#pending.length < MAX_PENDING_LENGTH) return;
    const cut = this.#boundary();
    if (cut === 0) return;
    this.#last = now;
    this.#emit(this.#pending.slice(0, cut));
    this.#pending = this.#pending.slice(cut);
  }

  /** Returns the rest at the end, as lines that have not been logged. */
  rest(): string[] {
    const lines = this.#logged > MAX_LOG_BYTES ? [] : linesOf(this.#pending);
    this.#pending = '';
    return lines;
  }

  /**
   * Returns the length of the pending text that can be logged: up to its last line break, else its last space; all of
   * it once it is large.
   */
  #boundary(): number {
    const end = Math.max(this.#pending.lastIndexOf('\n'), this.#pending.lastIndexOf(' ')) + 1;
    if (end > 0 || this.#pending.length < MAX_PENDING_LENGTH) return end;
    // Not between the halves of a surrogate pair: the log accepts only well-formed text.
    const last = this.#pending.charCodeAt(this.#pending.length - 1);
    return last >= 0xd800 && last <= 0xdbff ? this.#pending.length - 1 : this.#pending.length;
  }

  #emit(text: string): void {
    const lines = linesOf(text);
    if (lines.length === 0) return;
    this.#logged += Buffer.byteLength(text);
    this.#log(lines);
  }
}

/** Empty lines have no information in a log. */
function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map(line => line.trimEnd())
    .filter(line => line !== '');
}
