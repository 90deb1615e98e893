import type { Span } from './timeline-model.ts';

/** A part of the timeline's width, from 0 to 1. */
export type Zoom = { from: number; to: number };
/** Maps an instant to a position: from 0 to 1 for visible instants. */
export type Place = (at: number) => number;

export const WHOLE: Zoom = { from: 0, to: 1 };
/** The smallest part that zooming can show: a thousandth. */
const MIN_WIDTH = 0.001;

/** Returns the nearest valid part: not too small, and within 0 to 1. */
export function clampZoom({ from, to }: Zoom): Zoom {
  const width = Math.min(1, Math.max(MIN_WIDTH, to - from));
  const start = Math.min(1 - width, Math.max(0, from));
  return { from: start, to: start + width };
}

/** Returns the visible part after zooming around `center`. A `factor` below 1 zooms in. */
export function zoomBy({ from, to }: Zoom, factor: number, center = (from + to) / 2): Zoom {
  return clampZoom({ from: center - (center - from) * factor, to: center + (to - center) * factor });
}

/** Returns the visible part after moving by a share of the visible part. */
export function moveBy({ from, to }: Zoom, part: number): Zoom {
  const shift = (to - from) * part;
  return clampZoom({ from: from + shift, to: to + shift });
}

/** Reads the visible part from the URL, for example `0.25-0.5`. Default: the whole timeline. */
export function readZoom(text: string): Zoom {
  const [from, to] = text.split('-').map(Number);
  if (from === undefined || to === undefined || !(from >= 0 && to <= 1 && from < to)) return WHOLE;
  return clampZoom({ from, to });
}

export const isWhole = ({ from, to }: Zoom): boolean => from <= 0 && to >= 1;
export const writeZoom = (zoom: Zoom): string | undefined =>
  isWhole(zoom) ? undefined : `${round(zoom.from)}-${round(zoom.to)}`;
const round = (part: number): number => Math.round(part * 100_000) / 100_000;

/** Returns the scale of the visible part. */
export function zoomed(place: Place, { from, to }: Zoom): Place {
  return at => (place(at) - from) / (to - from);
}

const S = 1_000;
const MIN = 60 * S;
const H = 60 * MIN;
const D = 24 * H;
/** The distances between ticks, in ms. */
const STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  S,
  2 * S,
  5 * S,
  10 * S,
  15 * S,
  30 * S,
  MIN,
  2 * MIN,
  5 * MIN,
  10 * MIN,
  15 * MIN,
  30 * MIN,
  H,
  2 * H,
  3 * H,
  6 * H,
  12 * H,
  D,
  2 * D,
  7 * D,
  14 * D,
  30 * D,
  90 * D,
  365 * D,
];

/** The width of a character of a label at 12 px, and the room between two labels. */
const CHARACTER_PX = 6.8;
const ROOM_PX = 12;
const widthOf = (text: string): number => text.length * CHARACTER_PX;

export type Label = { key: string; text: string; title?: string; left: number };
type Wanted = { key: string; text: string; title?: string; center: number };

/** Returns the labels that fit into the width without overlap. Earlier labels have precedence. */
export function fitLabels(wanted: readonly Wanted[], width: number): Label[] {
  const kept: (Label & { right: number })[] = [];
  for (const { center, ...label } of wanted) {
    const size = widthOf(label.text);
    if (size > width) continue;
    const left = Math.min(width - size, Math.max(0, center - size / 2));
    const right = left + size;
    if (kept.some(each => left < each.right + ROOM_PX && each.left < right + ROOM_PX)) continue;
    kept.push({ ...label, left, right });
  }
  return kept.map(({ right: _right, ...label }) => label).sort((a, b) => a.left - b.left);
}

export type Tick = { at: number; x: number; text: string };

/**
 * Returns ticks at round distances from the start of a run, as many as a width has room for. Folded gaps have no ticks. `format`
 * formats a duration.
 */
export function ticksOf(
  { span, gaps, place, width }: { span: Span; gaps: readonly Span[]; place: Place; width: number },
  format: (ms: number) => string,
): Tick[] {
  if (width <= 0) return [];
  // The time per pixel outside folded gaps.
  const pixels = (place(span.to) - place(span.from)) * width;
  const folded = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const perPx = Math.max(1, span.to - span.from - folded) / Math.max(1, pixels);
  const step = STEPS.find(each => each / perPx >= MIN_TICK_PX) ?? STEPS.at(-1) ?? D;
  const ticks: Tick[] = [];
  const first = Math.max(0, Math.floor(invert(place, span, 0) - span.from - step));
  for (let after = Math.ceil(first / step) * step; ticks.length < MAX_TICKS; after += step) {
    const at = span.from + after;
    const x = place(at) * width;
    if (at > span.to || x > width + 0.5) break;
    const gap = gaps.find(each => at > each.from && at < each.to);
    if (gap !== undefined) {
      // A gap may hide a million ticks.
      after = Math.ceil((gap.to - span.from) / step) * step - step;
      continue;
    }
    if (x >= 0) ticks.push({ at, x: Math.min(x, width), text: after === 0 ? '0' : format(after) });
  }
  return ticks;
}
const MIN_TICK_PX = 80;
const MAX_TICKS = 100;

/** Returns the instant at a position, by binary search. */
export function invert(place: Place, { from, to }: Span, x: number): number {
  let [low, high] = [from, to];
  for (let turn = 0; turn < 50; turn += 1) {
    const middle = (low + high) / 2;
    if (place(middle) < x) low = middle;
    else high = middle;
  }
  return high;
}

/** "250 ms", "2 s", "1 min 30 s", "2 h": round, unlike the durations of steps. */
export function formatTick(ms: number): string {
  if (ms < S) return `${ms} ms`;
  const parts: string[] = [];
  let left = ms;
  for (const [unit, size] of [
    ['d', D],
    ['h', H],
    ['min', MIN],
  ] as const) {
    if (left < size) continue;
    parts.push(`${Math.floor(left / size)} ${unit}`);
    left %= size;
  }
  if (left > 0) parts.push(`${left / S} s`);
  return parts.slice(0, 2).join(' ');
}

/** Returns the place for a bar's duration: after the bar, before it, or on it if neither place has room. */
export function labelPlace(bar: { from: number; to: number }, text: string, width: number): 'after' | 'before' | 'on' {
  const size = widthOf(text) + ROOM_PX;
  if (bar.to * width + size <= width) return 'after';
  return bar.from * width >= size ? 'before' : 'on';
}
