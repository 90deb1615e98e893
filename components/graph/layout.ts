import dagre from '@dagrejs/dagre';

/** The fields of a step that a drawing needs. */
export type GraphStepInput = {
  id: string;
  type: string;
  name?: string;
  depends_on?: unknown;
  then?: unknown;
  else?: unknown;
  disabled?: unknown;
  gated?: unknown;
  position?: unknown;
  /** The steps of a loop. */
  steps?: unknown;
};
export type Point = { x: number; y: number };
/** `branch`: the branch of a condition that takes the edge; null if neither names it, and it is taken in either case. */
export type GraphEdge = { id: string; from: string; to: string; branch: 'then' | 'else' | 'both' | null };

export const nodeSize = { width: 220, height: 56 };
/** Between two rows: room for the “+” below a step and the label of a branch. */
export const ROW_GAP = 60;

/** How many steps a loop has, those of loops in it included; null for any other step. */
export function innerStepsOf({ type, steps }: GraphStepInput): number | null {
  if (type !== 'for_each') return null;
  const inner: readonly unknown[] = Array.isArray(steps) ? steps : [];
  return inner.reduce<number>((sum, step) => sum + 1 + (isStep(step) ? (innerStepsOf(step) ?? 0) : 0), 0);
}

const isStep = (value: unknown): value is GraphStepInput =>
  typeof value === 'object' && value !== null && 'type' in value;

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter(each => typeof each === 'string') : [];

/** The edges of a graph, once each; unknown ends are left out: a draft may name steps that are not there yet. */
export function edgesOf(steps: readonly GraphStepInput[]): GraphEdge[] {
  const byId = new Map(steps.map(step => [step.id, step]));
  const edges: GraphEdge[] = [];
  for (const step of steps) {
    for (const from of new Set(strings(step.depends_on))) {
      const source = byId.get(from);
      if (!source || from === step.id) continue;
      edges.push({ id: `${from}→${step.id}`, from, to: step.id, branch: branchBetween(source, step.id) });
    }
  }
  return edges;
}

function branchBetween(source: GraphStepInput, to: string): GraphEdge['branch'] {
  const isThen = strings(source.then).includes(to);
  const isElse = strings(source.else).includes(to);
  if (isThen) return isElse ? 'both' : 'then';
  return isElse ? 'else' : null;
}

/** The branches that name the end of an edge; null stands for none. */
export function branchesOf({ branch }: GraphEdge): readonly ('then' | 'else' | null)[] {
  return branch === 'both' ? ['then', 'else'] : [branch];
}

/** The label of an edge: the branches that take it. Undefined where it has none. */
export function branchLabel({ branch }: Pick<GraphEdge, 'branch'>): string | undefined {
  return branch === 'both' ? 'then, else' : (branch ?? undefined);
}

/** A position that a person gave a step; anything but two finite numbers is no position. */
export function ownPosition(step: GraphStepInput): Point | null {
  const position = step.position as Partial<Point> | null | undefined;
  if (typeof position !== 'object' || position === null) return null;
  const { x, y } = position;
  return typeof x === 'number' && typeof y === 'number' && Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null;
}

/** Graphs with more steps are laid out by ranks alone. */
export const MAX_MINIMIZED = 300;
/** Graphs with more steps are laid out in a worker: 50 take about as long as a frame. */
const MAX_AT_ONCE = 50;

/** Whether laying out the steps would hold the page for longer than a frame. */
export const takesLong = (steps: readonly GraphStepInput[]): boolean =>
  steps.length > MAX_AT_ONCE && steps.length <= MAX_MINIMIZED && steps.some(step => ownPosition(step) === null);

/**
 * Where each step is drawn (top left corner). Positions that people gave are kept when every step has one; otherwise the
 * whole graph is laid out, top to bottom (panels here are taller than a row of steps is wide, and so is a phone): a mixture would put new steps on top of old ones.
 */
export function layout(steps: readonly GraphStepInput[], edges: readonly GraphEdge[]): Map<string, Point> {
  const own = steps.map(step => [step.id, ownPosition(step)] as const);
  if (own.length > 0 && own.every(([, position]) => position !== null)) {
    return new Map(own.filter((entry): entry is readonly [string, Point] => entry[1] !== null));
  }
  // dagre's crossing minimisation is super-linear: 2,000 steps take 5,700 ms with it, 6 ms by ranks alone.
  if (steps.length > MAX_MINIMIZED) return layoutByRank(steps, edges);
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 32, ranksep: ROW_GAP, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  // dagre draws what comes last on the left: backwards, steps are from left to right in the order in which they are written.
  for (const step of steps.toReversed()) graph.setNode(step.id, { ...nodeSize });
  for (const edge of edges.toReversed()) graph.setEdge(edge.from, edge.to);
  dagre.layout(graph, { constraints: branchesInOrder(edges) });
  return new Map(
    steps.map(step => {
      const node = graph.node(step.id) as Point;
      return [step.id, { x: node.x - nodeSize.width / 2, y: node.y - nodeSize.height / 2 }];
    }),
  );
}

/** Draws what a condition leads to by `then` left of what it leads to by `else`. */
function branchesInOrder(edges: readonly GraphEdge[]): { left: string; right: string }[] {
  const thens = edges.filter(({ branch }) => branch === 'then');
  const elses = edges.filter(({ branch }) => branch === 'else');
  return thens.flatMap(({ from, to }) =>
    elses.filter(other => other.from === from && other.to !== to).map(other => ({ left: to, right: other.to })),
  );
}

/** Each step one rank below its furthest dependency, ranks centred; cycles (a draft may have them) end where they close. */
export function layoutByRank(steps: readonly GraphStepInput[], edges: readonly GraphEdge[]): Map<string, Point> {
  const incoming = new Map(steps.map(step => [step.id, 0]));
  for (const { to } of edges) incoming.set(to, (incoming.get(to) ?? 0) + 1);
  const outgoing = Map.groupBy(edges, ({ from }) => from);
  const rank = new Map<string, number>(steps.map(step => [step.id, 0]));
  const queue = steps.filter(step => incoming.get(step.id) === 0).map(step => step.id);
  for (let next = 0; next < queue.length; next += 1) {
    const id = queue[next] as string; // in range by the loop
    for (const { to } of outgoing.get(id) ?? []) {
      rank.set(to, Math.max(rank.get(to) ?? 0, (rank.get(id) ?? 0) + 1));
      const left = (incoming.get(to) ?? 0) - 1;
      incoming.set(to, left);
      if (left === 0) queue.push(to);
    }
  }
  const rows = Map.groupBy(steps, ({ id }) => rank.get(id) ?? 0);
  const positions = new Map<string, Point>();
  for (const [row, inRow] of rows) {
    inRow.forEach(({ id }, column) => {
      positions.set(id, {
        x: (column - (inRow.length - 1) / 2) * (nodeSize.width + 32),
        y: row * (nodeSize.height + ROW_GAP),
      });
    });
  }
  return positions;
}
