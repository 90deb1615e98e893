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
  /** The steps inside a loop. */
  steps?: unknown;
};
export type Point = { x: number; y: number };
/** `branch`: the branch of a condition that takes the edge; null for an edge that is always taken. */
export type GraphEdge = { id: string; from: string; to: string; branch: 'then' | 'else' | 'both' | null };

export const nodeSize = { width: 220, height: 56 };
/** Between two rows: room for the “+” below a step and the label of a branch. */
export const ROW_GAP = 60;

/** Returns the number of steps in a loop, including steps of inner loops; null for a step that is not a loop. */
export function innerStepsOf({ type, steps }: GraphStepInput): number | null {
  if (type !== 'for_each') return null;
  const inner: readonly unknown[] = Array.isArray(steps) ? steps : [];
  return inner.reduce<number>((sum, step) => sum + 1 + (isStep(step) ? (innerStepsOf(step) ?? 0) : 0), 0);
}

const isStep = (value: unknown): value is GraphStepInput =>
  typeof value === 'object' && value !== null && 'type' in value;

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter(each => typeof each === 'string') : [];

/** Returns the edges of a graph without duplicates. Edges from unknown steps are left out: a draft may name missing steps. */
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

/** Returns the branches of a condition that name the end of an edge; `[null]` if no branch does. */
export function branchesOf({ branch }: GraphEdge): readonly ('then' | 'else' | null)[] {
  return branch === 'both' ? ['then', 'else'] : [branch];
}

/** Returns the label of an edge: the branches that take it. Undefined for an edge without a branch. */
export function branchLabel({ branch }: Pick<GraphEdge, 'branch'>): string | undefined {
  return branch === 'both' ? 'then, else' : (branch ?? undefined);
}

/** Returns the position that a person gave a step, or null if it is not two finite numbers. */
export function ownPosition(step: GraphStepInput): Point | null {
  const position = step.position as Partial<Point> | null | undefined;
  if (typeof position !== 'object' || position === null) return null;
  const { x, y } = position;
  return typeof x === 'number' && typeof y === 'number' && Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null;
}

/** Graphs with more steps are laid out only by ranks. */
export const MAX_MINIMIZED = 300;
/** Graphs with more steps are laid out in a worker: 50 take about as long as a frame. */
const MAX_AT_ONCE = 50;

/** Returns whether laying out the steps would block the page for longer than a frame. */
export const takesLong = (steps: readonly GraphStepInput[]): boolean =>
  steps.length > MAX_AT_ONCE && steps.length <= MAX_MINIMIZED && steps.some(step => ownPosition(step) === null);

/**
 * Returns the top left corner of each step. Positions that people chose are kept if every step has one. Otherwise the
 * whole graph is laid out, because a mixture would place new steps on top of old ones. The layout runs from top to
 * bottom, which fits the tall panels of the console and phones.
 */
export function layout(steps: readonly GraphStepInput[], edges: readonly GraphEdge[]): Map<string, Point> {
  const own = steps.map(step => [step.id, ownPosition(step)] as const);
  if (own.length > 0 && own.every(([, position]) => position !== null)) {
    return new Map(own.filter((entry): entry is readonly [string, Point] => entry[1] !== null));
  }
  // dagre's crossing minimization is super-linear: 2,000 steps take 5,700 ms with dagre, and 6 ms by ranks.
  if (steps.length > MAX_MINIMIZED) return layoutByRank(steps, edges);
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 32, ranksep: ROW_GAP, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  // dagre draws the last node on the left. In reverse order, steps are drawn left to right in the order of the graph.
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

/** Places the steps of a condition's `then` branch left of the steps of its `else` branch. */
function branchesInOrder(edges: readonly GraphEdge[]): { left: string; right: string }[] {
  const thens = edges.filter(({ branch }) => branch === 'then');
  const elses = edges.filter(({ branch }) => branch === 'else');
  return thens.flatMap(({ from, to }) =>
    elses.filter(other => other.from === from && other.to !== to).map(other => ({ left: to, right: other.to })),
  );
}

/** Places each step one rank below its lowest dependency, and centers each rank. Drafts may have cycles; each is cut where it closes. */
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

/** Steps with their connections and their places. */
export type Drawn = {
  steps: readonly GraphStepInput[];
  edges: readonly GraphEdge[];
  places: ReadonlyMap<string, Point>;
};

/** Returns a key that changes only if the steps must be laid out again. Their names and settings do not affect it. */
export const structureKey = (steps: readonly GraphStepInput[]): string =>
  JSON.stringify(
    steps.map(step => [step.id, step.depends_on ?? 0, step.then ?? 0, step.else ?? 0, step.position ?? 0]),
  );

/** Returns steps with their places immediately. Places them only by rank if a full layout would block the page. */
export function drawAtOnce(steps: readonly GraphStepInput[]): Drawn {
  const edges = edgesOf(steps);
  return { steps, edges, places: takesLong(steps) ? layoutByRank(steps, edges) : layout(steps, edges) };
}
