import type { McpProgress } from '../../../platform/mcp-client/index.ts';

/** Each flush becomes an event of the run, and a tool may report progress a thousand times a second. */
const FLUSH_MS = 500;
/** The maximum number of messages kept between two flushes; older ones are dropped. */
const MAX_LINES = 50;
const MAX_LINE_LENGTH = 2_000;

/** Converts progress to log lines: the first immediately, the others every half a second. `end` writes the rest. */
export function createProgressLog(
  log: (lines: string[]) => void,
  redact: (line: string) => string,
): { add(progress: McpProgress): void; end(): void } {
  let lines: string[] = [];
  let leftOut = 0;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  const flush = (): void => {
    timer = undefined;
    if (lines.length === 0) return;
    const written = leftOut > 0 ? [`… ${leftOut} more`, ...lines] : lines;
    lines = [];
    leftOut = 0;
    log(written);
    if (!ended) timer = setTimeout(flush, FLUSH_MS);
  };
  return {
    add(progress) {
      if (ended) return;
      lines.push(redact(lineOf(progress)).slice(0, MAX_LINE_LENGTH));
      if (lines.length > MAX_LINES) {
        lines.shift();
        leftOut++;
      }
      if (timer === undefined) flush();
    },
    end() {
      ended = true;
      clearTimeout(timer);
      flush();
    },
  };
}

function lineOf({ progress, total, message }: McpProgress): string {
  const at = total === undefined ? `${progress}` : `${progress}/${total}`;
  return message ? `${at} ${message.replaceAll('\0', '').toWellFormed()}` : at;
}
