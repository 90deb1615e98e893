import { nodeSize, type Point } from './layout.ts';

/** At this zoom the names of steps (14 px) are 11 px high, the smallest readable size. */
export const LEGIBLE_ZOOM = 0.8;
/** At this zoom the icons of steps can still be distinguished (detail-level.ts). */
export const ICONS_ZOOM = 0.25;
export const MARGIN = 32;

/** The size of the canvas in pixels. The upper `top` pixels are covered. */
type Room = { width: number; height: number; top: number };
export type View = Point & { zoom: number };
/** A step, or an open loop, with its size. */
type Drawn = Point & { width?: number; height?: number };

type AutopilotRequest = {
  /** The smallest zoom at which the whole graph may be shown. */
  smallest?: number;
  /** The position of the step to show if the graph does not fit. Default: the first step. */
  at?: Point | undefined;
};

/**
 * Returns the view that a graph is opened with: all of it as large as possible, up to its natural size; where that would be smaller than
 * `smallest`, a part of it whose steps can be read.
 */
export function firstView(
  places: readonly Drawn[],
  size: Room,
  { smallest = LEGIBLE_ZOOM, at }: AutopilotRequest = {},
): View {
  if (places.length === 0) return { x: 0, y: 0, zoom: 1 };
  const left = Math.min(...places.map(({ x }) => x));
  const right = Math.max(...places.map(({ x, width = nodeSize.width }) => x + width));
  const top = Math.min(...places.map(({ y }) => y));
  const bottom = Math.max(...places.map(({ y, height = nodeSize.height }) => y + height));
  const room = { width: size.width - 2 * MARGIN, height: size.height - size.top - MARGIN };
  const fitting = Math.min(room.width / (right - left), room.height / (bottom - top));
  const zoom = fitting < smallest ? LEGIBLE_ZOOM : Math.min(1, fitting);
  const fits = { x: (right - left) * zoom <= room.width, y: (bottom - top) * zoom <= room.height };
  // The first step of a too wide graph is in the middle.
  const first: Drawn | undefined = at ?? places.find(({ y }) => y === top);
  const centre = fits.x ? (left + right) / 2 : (first?.x ?? left) + (first?.width ?? nodeSize.width) / 2;
  const middle = fits.y ? (top + bottom) / 2 : at === undefined ? null : at.y + nodeSize.height / 2;
  return {
    x: size.width / 2 - centre * zoom,
    y: middle === null ? size.top - top * zoom : (size.height + size.top - MARGIN) / 2 - middle * zoom,
    zoom,
  };
}
