import { type Box, boxAround, CONTAINER, containerSize, makeRoom } from './containers.ts';
import {
  type Drawn,
  drawAtOnce,
  type GraphEdge,
  type GraphStepInput,
  nodeSize,
  type Point,
  structureKey,
} from './layout.ts';
import { stepsOfLoop } from './loop-steps.ts';
import { noteOfNode, type Size } from './notes.ts';

type Places = ReadonlyMap<string, Point>;

/** The steps of the canvas, or of an open loop on it, as they are drawn. */
export type Level = {
  /** The node of the loop; empty: the steps of the canvas itself. */
  node: string;
  steps: readonly GraphStepInput[];
  edges: readonly GraphEdge[];
  /** The places of steps and notes with all loops closed, from the layout or set by people. */
  places: Places;
  /** The places where they are drawn. */
  drawn: Places;
  /** The sizes of open loops. */
  sizes: ReadonlyMap<string, Size>;
  /** The box around all drawn steps; null if there are none. */
  box: Box | null;
};
/** The levels of a canvas. Each level comes after its outer level. */
export type Levels = readonly Level[];

/** Returns the node id of a step. It contains the loops' ids, because steps of different loops may have the same id. */
export const nodeIn = (level: string, step: string): string => (level === '' ? step : `${level}.${step}`);
/** Returns the loop node around a node (empty for the canvas) and the step's id. Ids of steps have no dots. */
export function placeOf(node: string): { level: string; step: string } {
  const dot = noteOfNode(node) === null ? node.lastIndexOf('.') : -1;
  return { level: node.slice(0, Math.max(0, dot)), step: node.slice(dot + 1) };
}
export const pathOf = (level: string): readonly string[] => (level === '' ? [] : level.split('.'));

/** The previous levels, so that unchanged levels stay the same objects. */
export type LevelCache = Map<string, { level: Level; key: string }>;

/** Returns the levels of the canvas, including those of open loops. */
export function levelsOf(root: Drawn, isOpen: (node: string) => boolean, cache: LevelCache): Levels {
  return levelsFrom('', root, '', isOpen, cache);
}

function levelsFrom(
  node: string,
  own: Drawn,
  key: string,
  isOpen: (node: string) => boolean,
  cache: LevelCache,
): Levels {
  const inner: Level[] = [];
  const sizes = new Map<string, Size>();
  for (const step of own.steps) {
    const steps = stepsOfLoop(step);
    const loop = nodeIn(node, step.id);
    if (steps === null || !isOpen(loop)) continue;
    const drawn = drawnIn(loop, steps, cache);
    const levels = levelsFrom(loop, drawn, drawn.key, isOpen, cache);
    inner.push(...levels);
    sizes.set(step.id, containerSize(levels[0]?.box ?? null));
  }
  const last = cache.get(node)?.level;
  const isSame =
    last?.steps === own.steps && last.places === own.places && last.edges === own.edges && sameSizes(last.sizes, sizes);
  if (last !== undefined && isSame) return [last, ...inner];
  const isMoved = last?.places !== own.places || !sameSizes(last.sizes, sizes);
  const drawn = isMoved ? makeRoom(own.places, sizes) : last.drawn;
  const level = { ...own, node, drawn, sizes, box: isMoved ? boxAround(drawn, sizes) : last.box };
  cache.set(node, { level, key });
  return [level, ...inner];
}

/** Returns the drawing of a loop's steps, with the previous places if only texts have changed. */
function drawnIn(node: string, given: readonly GraphStepInput[], cache: LevelCache): Drawn & { key: string } {
  const last = cache.get(node);
  const steps = [...new Map(given.map(step => [step.id, step])).values()];
  const isSame = last?.level.steps.length === steps.length && steps.every((step, at) => step === last.level.steps[at]);
  if (isSame) return { ...drawnOf(last.level), key: last.key };
  const key = structureKey(steps);
  return last?.key === key ? { ...drawnOf(last.level), steps, key } : { ...drawAtOnce(steps), steps, key };
}

const drawnOf = ({ steps, edges, places }: Level): Drawn => ({ steps, edges, places });

const sameSizes = (a: Level['sizes'], b: Level['sizes']): boolean =>
  a.size === b.size &&
  [...a].every(([id, { width, height }]) => b.get(id)?.width === width && b.get(id)?.height === height);

/** Returns whether two states of the levels differ at most in texts. */
export const sameStructure = (a: Levels, b: Levels): boolean =>
  a.length === b.length &&
  a.every((level, at) => {
    const other = b[at];
    return other?.node === level.node && other.drawn === level.drawn && other.edges === level.edges;
  });

export const levelAt = (levels: Levels, node: string): Level | undefined => levels.find(level => level.node === node);

/** Returns the origin of a level's steps within the drawn loop. */
export function insetOf({ node, box }: Level): Point {
  return node === '' || box === null ? { x: 0, y: 0 } : { x: CONTAINER.side - box.x, y: CONTAINER.top - box.y };
}

/** Returns the box of each node on the canvas. */
export function boxesOf(levels: Levels): ReadonlyMap<string, Box> {
  const boxes = new Map<string, Box>();
  for (const level of levels) {
    const around = boxes.get(level.node) ?? { x: 0, y: 0 };
    const inset = insetOf(level);
    for (const [id, { x, y }] of level.drawn) {
      const size = level.sizes.get(id) ?? nodeSize;
      const { width, height } = size;
      boxes.set(nodeIn(level.node, id), { x: around.x + inset.x + x, y: around.y + inset.y + y, width, height });
    }
  }
  return boxes;
}

/** Returns the type of each step, by its node. */
export const typesOf = (levels: Levels): ReadonlyMap<string, string> =>
  new Map(levels.flatMap(({ node, steps }) => steps.map(({ id, type }) => [nodeIn(node, id), type] as const)));

/** Returns the place in the draft for a node that is drawn at `position` within its loop. */
export function placeAt(level: Level, step: string, position: Point): Point {
  const inset = insetOf(level);
  const [place, drawn] = [level.places.get(step), level.drawn.get(step)];
  const room = place && drawn ? { x: place.x - drawn.x, y: place.y - drawn.y } : { x: 0, y: 0 };
  return { x: position.x - inset.x + room.x, y: position.y - inset.y + room.y };
}

/** Returns the innermost open loop at a point of the canvas, and the point in the coordinates of its steps. */
export function levelAround(
  levels: Levels,
  boxes: ReadonlyMap<string, Box>,
  point: Point,
): { level: string; at: Point } {
  let found = { level: '', at: point };
  for (const level of levels) {
    const box = boxes.get(level.node);
    if (box === undefined || point.x < box.x || point.y < box.y) continue;
    if (point.x > box.x + box.width || point.y > box.y + box.height) continue;
    const inset = insetOf(level);
    found = { level: level.node, at: { x: point.x - box.x - inset.x, y: point.y - box.y - inset.y } };
  }
  return found;
}

/**
 * Returns the nodes that stay selected together: steps of one level. Those of the outermost level do, but a single loop gives way to the
 * steps in it that are selected, too: a frame drawn around them touches the loop as well.
 */
export function selectionOf(nodes: Iterable<string>): { level: string; steps: ReadonlySet<string> } {
  let all = [...nodes].filter(node => noteOfNode(node) === null);
  for (;;) {
    const depth = Math.min(...all.map(node => pathOf(node).length));
    const outer = all.filter(node => pathOf(node).length === depth);
    const [first, ...others] = outer;
    if (first === undefined) return { level: '', steps: new Set() };
    const inside = all.filter(node => node.startsWith(`${first}.`));
    if (others.length === 0 && inside.length > 0) {
      all = inside;
      continue;
    }
    const { level } = placeOf(first);
    const same = outer.filter(node => placeOf(node).level === level);
    return { level, steps: new Set(same.map(node => placeOf(node).step)) };
  }
}
