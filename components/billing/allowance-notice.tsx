import { CircleAlert, TriangleAlert } from 'lucide-react';
import { cx } from '../ui/classes.ts';
import { creditsInWords } from '../ui/credits.tsx';
import type { BillingStatus } from './wire.ts';

/** Returns the highest warning of the current allowance; undefined without a warning. */
export function latestWarning({ warnings }: Pick<BillingStatus, 'warnings'>) {
  return warnings.toSorted((a, b) => b.percent - a.percent)[0];
}

/** Returns the text of a warning. */
export function warningText(
  percent: 80 | 100,
  { enforced, when_exhausted }: Pick<BillingStatus, 'enforced' | 'when_exhausted'>,
): string {
  if (percent === 80) return '80% of the credits are used.';
  if (!enforced) return 'All credits are used. Runs continue: usage is only metered here.';
  const running = when_exhausted === 'pause' ? 'active runs pause' : 'active runs fail at their next step';
  return `All credits are used: new runs are refused, and ${running}.`;
}

/** A meter of the used part of the current allowance, with the latest warning. */
export function AllowanceNotice({ status, remaining }: { status: BillingStatus; remaining: number }) {
  if (status.allowance === 0) return null;
  const used = Math.max(0, status.allowance - remaining);
  const percent = Math.min(100, Math.floor((used / status.allowance) * 100));
  const warning = latestWarning(status);
  const tone = warning ? (warning.percent === 100 ? 'bad' : 'warn') : null;
  const Icon = warning?.percent === 100 ? CircleAlert : TriangleAlert;
  return (
    <div
      className={cx('flex flex-col gap-1.5 rounded-md', tone === 'bad' && 'text-bad', tone === 'warn' && 'text-warn')}
    >
      <meter
        className="sr-only"
        aria-label="Used of the current allowance"
        min={0}
        max={100}
        value={percent}
      >{`${percent}%`}</meter>
      <p className="flex items-center gap-1.5 text-xs">
        {warning ? <Icon aria-hidden className="size-3.5 shrink-0" /> : null}
        <span>
          {percent}% of the {creditsInWords(status.allowance)} after the last grant are used.
        </span>
      </p>
      <span aria-hidden className="h-1 overflow-hidden rounded-full bg-active">
        <span
          className={cx('block h-full', tone === 'bad' ? 'bg-bad' : tone === 'warn' ? 'bg-warn' : 'bg-muted')}
          style={{ width: `${percent}%` }}
        />
      </span>
    </div>
  );
}
