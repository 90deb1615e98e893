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

type ViewOptions = {
  /** The smallest zoom at which the whole graph may be shown. */
  smallest?: number;
  /** The position of the step to show if the graph does not fit. Default: the first step. */
  at?: Point | undefined;
};

/**
 * Returns the view with which a graph opens: the whole graph as large as possible, up to a zoom of 1. If the zoom would
 * be below `smallest`, the view is a part of the graph at a legible zoom.
 */
export function firstView(
  places: readonly Drawn[],
  size: Room,
  { smallest = LEGIBLE_ZOOM, at }: ViewOptions = {},
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
  // If the graph is too wide, its first step is centered.
  const first: Drawn | undefined = at ?? places.find(({ y }) => y === top);
  const center = fits.x ? (left + right) / 2 : (first?.x ?? left) + (first?.width ?? nodeSize.width) / 2;
  const middle = fits.y ? (top + bottom) / 2 : at === undefined ? null : at.y + nodeSize.height / 2;
  return {
    x: size.width / 2 - center * zoom,
    y: middle === null ? size.top - top * zoom : (size.height + size.top - MARGIN) / 2 - middle * zoom,
    zoom,
  };
}
