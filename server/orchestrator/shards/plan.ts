/** A node that may lead shards. */
export type Candidate = {
  id: string;
  /** The newest events of the log that it can read. */
  level: number;
};

export type Placement = {
  /** The number of shards of the deployment. */
  shards: number;
  candidates: readonly Candidate[];
  /** The node that leads a shard; free shards are absent. A node that is no candidate counts as leading nothing. */
  owners: ReadonlyMap<number, string>;
  /** The level of the node that led a shard last: no node of an older level may lead it. Absent: 0. */
  levels: ReadonlyMap<number, number>;
};

type Node = Candidate & { owned: number; leads: number[]; quota: number };

/**
 * Returns which node should lead which shard. Pure, so that all nodes that see the same agree without messages: each
 * leads as many shards as its share, at most one above it, and as few shards as possible move. A shard that no candidate
 * may lead is absent.
 */
export function plan({ shards, candidates, owners, levels }: Placement): ReadonlyMap<number, string> {
  const nodes: Node[] = candidates.map(({ id, level }) => ({ id, level, owned: 0, leads: [], quota: 0 }));
  nodes.sort((a, b) => b.level - a.level || (a.id < b.id ? -1 : 1));
  const byId = new Map(nodes.map(node => [node.id, node]));
  for (const [shard, id] of owners) {
    const owner = byId.get(id);
    if (owner !== undefined && shard < shards) owner.owned += 1;
  }
  const byLevel = new Map<number, number[]>();
  for (let shard = 0; shard < shards; shard++) {
    const level = levels.get(shard) ?? 0;
    if (level > (nodes[0]?.level ?? -1)) continue;
    const same = byLevel.get(level);
    if (same === undefined) byLevel.set(level, [shard]);
    else same.push(shard);
  }
  // Shards that few nodes may lead come first: the others find a place later.
  const groups = [...byLevel].sort(([a], [b]) => b - a).map(([level, group]) => ({ level, group }));
  setQuotas(nodes, groups);
  for (const { level, group } of groups) {
    const free = group.filter(shard => {
      const owner = byId.get(owners.get(shard) ?? '');
      if (owner === undefined || owner.level < level || owner.leads.length >= owner.quota) return true;
      owner.leads.push(shard);
      return false;
    });
    for (const shard of free) mostRoom(nodes, level)?.leads.push(shard);
  }
  return new Map(nodes.flatMap(({ id, leads }) => leads.map(shard => [shard, id] as const)));
}

type Groups = readonly { level: number; group: readonly number[] }[];

/**
 * Shares the shards as evenly as the levels permit. Where newer nodes alone may lead more than their even share, they get
 * exactly these shards, and the older nodes share the rest. `nodes` are sorted by falling level.
 */
function setQuotas(nodes: readonly Node[], groups: Groups): void {
  let [first, shared] = [0, 0];
  while (first < nodes.length) {
    let best = { size: 0, shards: 0 };
    for (let size = 1; first + size <= nodes.length; size++) {
      const next = nodes[first + size];
      if (next !== undefined && next.level === nodes[first + size - 1]?.level) continue;
      const theirs = groups.filter(({ level }) => next === undefined || level > next.level);
      const shards = theirs.reduce((sum, { group }) => sum + group.length, 0) - shared;
      if (best.size === 0 || shards * best.size >= best.shards * size) best = { size, shards };
    }
    shareOut(nodes.slice(first, first + best.size), best.shards);
    first += best.size;
    shared += best.shards;
  }
}

/** Those that lead the most get the shards that do not divide evenly, so that these need not move. */
function shareOut(nodes: readonly Node[], shards: number): void {
  const share = Math.floor(shards / nodes.length);
  const left = shards % nodes.length;
  const byLoad = nodes.toSorted((a, b) => b.owned - a.owned);
  for (const [index, node] of byLoad.entries()) node.quota = share + (index < left ? 1 : 0);
}

/** Returns the node of at least this level that has room for the most shards. */
function mostRoom(nodes: readonly Node[], level: number): Node | undefined {
  let best: Node | undefined;
  for (const node of nodes) if (node.level >= level && (best === undefined || roomOf(node) > roomOf(best))) best = node;
  return best;
}

const roomOf = ({ quota, leads }: Node): number => quota - leads.length;
