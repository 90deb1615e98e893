'use client';
import { createContext, useContext, useSyncExternalStore } from 'react';
import { Tooltip } from './tooltip.tsx';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = 0;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** When the server rendered the page, ms since the epoch: the time of its first render in the browser, too. */
export const RenderedAt = createContext(0);

/** Milliseconds since the epoch, one shared tick a second for the whole page; that of the server until the page is hydrated. */
export function useNow(): number {
  const renderedAt = useContext(RenderedAt);
  return useSyncExternalStore(
    subscribe,
    () => {
      // A page that was idle must not show the age it had when the last ticker stopped.
      if (!timer || now === 0) now = Math.floor(Date.now() / 1000) * 1000;
      return now;
    },
    () => renderedAt,
  );
}

const DAY_S = 86_400;
/**
 * Each unit in seconds, and up to how many seconds it is the one to speak in. Not Intl's words: those of the server and of
 * browsers differ, and the first render must be the same on both.
 */
const units: readonly (readonly [unit: string, seconds: number, below: number])[] = [
  ['sec', 1, 60],
  ['min', 60, 3600],
  ['hr', 3600, DAY_S],
  ['day', DAY_S, 14 * DAY_S],
  ['wk', 7 * DAY_S, 60 * DAY_S],
  ['mo', 30.44 * DAY_S, 365 * DAY_S],
];
const YEAR = ['yr', 365.25 * DAY_S] as const;

/**
 * "3 min ago", "in 2 hr", "just now" below five seconds; never more than has passed. From 24 hours on days are those of
 * the local calendar, so that "yesterday" is yesterday; `dayOf` counts them in another one.
 */
export function formatRelative(at: number, from: number, dayOf = localDay): string {
  const seconds = (at - from) / 1000;
  if (Math.abs(seconds) < 5) return 'just now';
  const [unit, size] = units.find(([, , below]) => Math.abs(seconds) < below) ?? YEAR;
  if (unit === 'day') return relativeDay(dayOf(at) - dayOf(from));
  // A whole year is not the 0 years that its 365.25 days would make of it.
  const count = Math.max(1, Math.trunc(Math.abs(seconds) / size));
  return seconds < 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`;
}

function relativeDay(days: number): string {
  if (days === 0) return 'today';
  if (days === 1) return 'tomorrow';
  if (days === -1) return 'yesterday';
  return days < 0 ? `${-days} days ago` : `in ${days} days`;
}

/** The number of the day in the local calendar. */
function localDay(at: number): number {
  const day = new Date(at);
  return Date.UTC(day.getFullYear(), day.getMonth(), day.getDate()) / (DAY_S * 1000);
}

/** The number of the day in UTC: the same on the server and in every browser. */
const utcDay = (at: number): number => Math.floor(at / (DAY_S * 1000));

/** "2026-03-09 14:05:01 UTC": exact, and the same in every time zone. */
export function formatUtc(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
// Made when one is needed: each takes a phone some 25 ms, and no page begins with an exact time.
let local: Intl.DateTimeFormat | undefined;
let localClock: Intl.DateTimeFormat | undefined;

/** "9 Mar 2026, 15:05:01 GMT+1": in the time zone of the browser. Not for what the server renders, which has another. */
export function formatLocal(iso: string): string {
  const day = { day: 'numeric', month: 'short', year: 'numeric' } as const;
  local ??= new Intl.DateTimeFormat('en-GB', { ...day, ...clock, timeZoneName: 'short' });
  return local.format(new Date(iso));
}

/** "15:05:01.250" in the time zone of the browser. */
export function formatLocalClock(iso: string): string {
  localClock ??= new Intl.DateTimeFormat('en-GB', { ...clock, fractionalSecondDigits: 3 });
  return localClock.format(new Date(iso));
}

let localMinute: Intl.DateTimeFormat | undefined;

/** "9 Mar 2026, 15:05" in the time zone of the browser. */
export function formatLocalMinute(iso: string): string {
  localMinute ??= new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  });
  return localMinute.format(new Date(iso));
}

/** How long ago, with the exact local time on hover and on focus. */
export function RelativeTime({ at, className }: { at: string; className?: string }) {
  const renderedAt = useContext(RenderedAt);
  const current = useNow();
  // The server does not know the calendar of the browser.
  const dayOf = current === renderedAt ? utcDay : localDay;
  return (
    <Tooltip content={<LocalTime at={at} />}>
      <time dateTime={at} data-ticks className={className ?? 'whitespace-nowrap text-muted tabular-nums'}>
        {current === 0 ? formatUtc(at) : formatRelative(Date.parse(at), current, dayOf)}
      </time>
    </Tooltip>
  );
}

function LocalTime({ at }: { at: string }) {
  return <span className="tabular-nums">{formatLocal(at)}</span>;
}

/** "850 ms", "4.2 s", "3 min 5 s", "2 h 10 min", "3 d 4 h". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const s = ms / 1000;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  const min = Math.floor(s / 60);
  if (min < 60) return `${min} min ${Math.floor(s % 60)} s`;
  const h = Math.floor(min / 60);
  if (h < 24) return `${h} h ${min % 60} min`;
  return `${Math.floor(h / 24)} d ${h % 24} h`;
}

/** Time between two instants; counts on while `to` is null. */
export function Duration({ from, to, className }: { from: string; to: string | null; className?: string }) {
  return to === null ? (
    <Running from={from} className={className} />
  ) : (
    <Span className={className} ms={Date.parse(to) - Date.parse(from)} />
  );
}

function Running({ from, className }: { from: string; className?: string | undefined }) {
  const current = useNow();
  return <Span ticks className={className} ms={current === 0 ? 0 : current - Date.parse(from)} />;
}

function Span({ ms, ticks, className }: { ms: number; ticks?: boolean; className?: string | undefined }) {
  return (
    <span data-ticks={ticks} className={className ?? 'whitespace-nowrap text-muted tabular-nums'}>
      {formatDuration(ms)}
    </span>
  );
}
