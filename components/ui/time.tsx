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

/** The time at which the server rendered the page, in ms since the epoch. The first render in the browser uses it too. */
export const RenderedAt = createContext(0);

/** Returns the time in ms since the epoch. The whole page shares one tick per second. Until hydration it is the server's time. */
export function useNow(): number {
  const renderedAt = useContext(RenderedAt);
  return useSyncExternalStore(
    subscribe,
    () => {
      // After a time without a timer, the last tick is out of date.
      if (!timer || now === 0) now = Math.floor(Date.now() / 1000) * 1000;
      return now;
    },
    () => renderedAt,
  );
}

const DAY_S = 86_400;
/**
 * Each unit in seconds, and the number of seconds below which it is used. Not Intl's words: the server's and the browsers' differ, and the
 * first render must be the same on both.
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
 * Returns "3 min ago", "in 2 hr", or "just now" below five seconds. Rounds down. From 24 hours on, days are those of the local calendar, so
 * that "yesterday" is yesterday; `dayOf` selects another calendar.
 */
export function formatRelative(at: number, from: number, dayOf = localDay): string {
  const seconds = (at - from) / 1000;
  if (Math.abs(seconds) < 5) return 'just now';
  const [unit, size] = units.find(([, , below]) => Math.abs(seconds) < below) ?? YEAR;
  if (unit === 'day') return relativeDay(dayOf(at) - dayOf(from));
  // At least 1: a year of 365 days would be 0 years of 365.25 days.
  const count = Math.max(1, Math.trunc(Math.abs(seconds) / size));
  return seconds < 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`;
}

function relativeDay(days: number): string {
  if (days === 0) return 'today';
  if (days === 1) return 'tomorrow';
  if (days === -1) return 'yesterday';
  return days < 0 ? `${-days} days ago` : `in ${days} days`;
}

/** Returns the number of the day in the local calendar. */
function localDay(at: number): number {
  const day = new Date(at);
  return Date.UTC(day.getFullYear(), day.getMonth(), day.getDate()) / (DAY_S * 1000);
}

/** Returns the number of the day in UTC, which is the same on the server and in every browser. */
const utcDay = (at: number): number => Math.floor(at / (DAY_S * 1000));

/** Formats an exact time, the same in every time zone: "2026-03-09 14:05:01 UTC". */
export function formatUtc(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
// Created on demand: each takes some 25 ms on a phone, and no page starts with an exact time.
let local: Intl.DateTimeFormat | undefined;
let localClock: Intl.DateTimeFormat | undefined;

/** Formats a time in the browser's time zone: "9 Mar 2026, 15:05:01 GMT+1". Not for the server, whose zone differs. */
export function formatLocal(iso: string): string {
  const day = { day: 'numeric', month: 'short', year: 'numeric' } as const;
  local ??= new Intl.DateTimeFormat('en-GB', { ...day, ...clock, timeZoneName: 'short' });
  return local.format(new Date(iso));
}

/** Formats a time in the browser's time zone: "15:05:01.250". */
export function formatLocalClock(iso: string): string {
  localClock ??= new Intl.DateTimeFormat('en-GB', { ...clock, fractionalSecondDigits: 3 });
  return localClock.format(new Date(iso));
}

let localMinute: Intl.DateTimeFormat | undefined;

/** Formats a time in the browser's time zone: "9 Mar 2026, 15:05". */
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

/** A relative time, with the exact local time on hover and on focus. */
export function RelativeTime({ at, className }: { at: string; className?: string }) {
  const renderedAt = useContext(RenderedAt);
  const current = useNow();
  // The server does not know the browser's calendar.
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

/** The time between two instants; it keeps counting while `to` is null. */
export function Duration({ from, to, className }: { from: string; to: string | null; className?: string }) {
  return to === null ? (
    <Running from={from} className={className} />
  ) : (
    <DurationText className={className} ms={Date.parse(to) - Date.parse(from)} />
  );
}

function Running({ from, className }: { from: string; className?: string | undefined }) {
  const current = useNow();
  return <DurationText ticks className={className} ms={current === 0 ? 0 : current - Date.parse(from)} />;
}

function DurationText({ ms, ticks, className }: { ms: number; ticks?: boolean; className?: string | undefined }) {
  return (
    <span data-ticks={ticks} className={className ?? 'whitespace-nowrap text-muted tabular-nums'}>
      {formatDuration(ms)}
    </span>
  );
}
