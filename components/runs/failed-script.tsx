import { cx } from '../ui/classes.ts';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import type { ScriptError } from './failure-text.ts';

/** The number of lines shown before and after the failed line. */
const CONTEXT_LINES = 4;

/** Shows the lines of a script around an error, with the error below the failed line. */
export function FailedScript({ script, error }: { script: string; error: ScriptError }) {
  const lines = script.split('\n');
  const first = Math.max(1, error.line - CONTEXT_LINES);
  const shown = lines.slice(first - 1, error.line + CONTEXT_LINES);
  return (
    <ScrollRegion label="Script" className="max-h-80 overflow-auto rounded-md border bg-sunken py-1 font-mono text-xs">
      {shown.map((text, index) => {
        const line = first + index;
        const failed = line === error.line;
        return (
          <div key={line}>
            <div className={cx('flex min-w-max gap-3 px-2 leading-5', failed && 'bg-bad-soft text-bad')}>
              <span className={cx('w-8 shrink-0 text-right select-none', failed ? 'text-bad' : 'text-muted')}>
                {line}
              </span>
              <span className="whitespace-pre">{text}</span>
            </div>
            {failed ? (
              <p className="border-l-2 border-bad bg-bad-soft py-0.5 pr-2 pl-12 whitespace-pre-wrap text-bad">
                {error.text}
              </p>
            ) : null}
          </div>
        );
      })}
    </ScrollRegion>
  );
}
