'use client';
import { useQuery } from '@tanstack/react-query';
import { useCreditsShown } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { cx } from '../ui/classes.ts';
import { Credits } from '../ui/credits.tsx';
import { branchTo, type Message } from './branches.ts';
import { useThread } from './use-thread.ts';

const REFRESH_MS = 10_000;

/**
 * Shows the used share of the context, the cost of the thread, and the use of the daily limit; renders nothing before
 * the first answer.
 */
export function ThreadMeter({ id }: { id: string }) {
  const trpc = useTRPC();
  const showsCredits = useCreditsShown();
  const { thread, messages } = useThread(id);
  const day = useQuery(trpc.chat_get_settings.queryOptions({}, { enabled: showsCredits, refetchInterval: REFRESH_MS }));
  const all = messages.data ?? [];
  const context = contextOf(branchTo(all, thread.data?.head_id ?? null).map(({ message }) => message));
  const costs = all.flatMap(({ metadata: { usage } }) => (usage === null ? [] : [usage.credits_microcredits]));
  if (costs.length === 0) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-2 text-xs text-muted tabular-nums">
      {context ? <Context {...context} /> : null}
      {showsCredits ? <Credits unit value={costs.reduce((sum, cost) => sum + cost, 0)} /> : null}
      {day.data && day.data.daily_credits !== null ? (
        <Day used={day.data.used_today} allowed={day.data.daily_credits} />
      ) : null}
    </div>
  );
}

/** Returns the number of tokens that a branch's last measured answer read, and the context window; null if unknown. */
export function contextOf(branch: readonly Message[]): { tokens: number; window: number } | null {
  const { context_tokens: tokens = 0, context_window: window = null } =
    branch.findLast(({ metadata }) => metadata.usage !== null)?.metadata.usage ?? {};
  return tokens > 0 && window !== null && window > 0 ? { tokens, window } : null;
}

function Context({ tokens, window }: { tokens: number; window: number }) {
  const percent = Math.min(100, Math.ceil((100 * tokens) / window));
  const exact = `${tokens.toLocaleString('en')} of ${window.toLocaleString('en')} tokens`;
  return (
    <span
      className="inline-flex items-center gap-1.5"
      title={`Last turn: ${exact}. The conversation is summarized before it is full.`}
    >
      <meter className="sr-only" aria-label="Context" aria-valuetext={exact} min={0} max={window} value={tokens} />
      <span aria-hidden className="h-1 w-8 overflow-hidden rounded-full bg-line-strong">
        <span className="block h-full rounded-full bg-accent" style={{ width: `${percent}%` }} />
      </span>
      Context {percent}%
    </span>
  );
}

function Day({ used, allowed }: { used: number; allowed: number }) {
  const isUp = used >= allowed;
  return (
    <span className={cx(isUp && 'font-medium text-warn')} title="What your chats have cost today, and your daily limit">
      {isUp ? 'Daily credits used up' : `Today ${formatCredits(used)} of ${formatCredits(allowed)}`}
      {isUp ? null : <span className="max-sm:hidden"> credits</span>}
    </span>
  );
}

const formatCredits = (credits: number) => credits.toLocaleString('en', { maximumSignificantDigits: 3 });
