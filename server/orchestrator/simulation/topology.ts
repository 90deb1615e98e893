import type { Cluster, Member } from '../ports/cluster.ts';
import type { Placement } from '../shards/plan.ts';
import { shardOf } from '../shards/slot.ts';
import type { Postgres } from './postgres.ts';
import type { Random } from './random.ts';
import type { Server } from './server.ts';

/** The longest for which a node goes by what it saw of the others, ms. */
const SEEN_FOR_MS = 1_000;
const STALE_MS = 5_000;

/** A cluster whose nodes share the workspaces by shards, and see each other in the database, somewhat late. */
export class Topology {
  readonly shards: number;
  readonly #random: Random;
  readonly #servers: () => readonly Server[];

  constructor(shards: number, random: Random, servers: () => readonly Server[]) {
    this.shards = shards;
    this.#random = random;
    this.#servers = servers;
  }

  shardOf(tenantId: string): number {
    return shardOf(tenantId, this.shards);
  }

  /** Returns the cluster as one node sees it. */
  seenBy(server: Server, postgres: Postgres): Pick<Cluster, 'node' | 'shards' | 'owner' | 'placement' | 'whyNotLead'> {
    let seen: { at: number; members: Member[] } | null = null;
    const members = (): readonly Member[] => {
      const { now } = server.at.agenda;
      const isDue = seen === null || now - seen.at >= this.#random.below(SEEN_FOR_MS);
      if (isDue && server.poolDownMs <= 0) seen = { at: now, members: this.#members(postgres) };
      return seen === null || now - seen.at >= STALE_MS ? [] : seen.members;
    };
    return {
      node: { id: server.name, url: server.name },
      shards: this.shards,
      owner: shard => members().find(({ shards }) => shards.includes(shard)) ?? null,
      placement: (): Placement | null => {
        const present = members();
        if (present.length === 0) return null;
        const owners = new Map(present.flatMap(({ id, shards }) => shards.map(shard => [shard, id] as const)));
        return { shards: this.shards, candidates: present.filter(({ isHeard }) => isHeard), owners, levels: new Map() };
      },
      whyNotLead: () => null,
    };
  }

  /** Those that hold a lock, also of dead processes whose sessions are still there. */
  #members(postgres: Postgres): Member[] {
    const all = new Map<string, Member>();
    for (const server of this.#servers()) {
      // A node that seems gone for a moment: its shards move, and come back.
      const isHeard = !server.isFrozen && !(!server.at.calm && this.#random.chance(0.1));
      all.set(server.name, this.#member(server.name, [], isHeard));
    }
    for (const [shard, name] of postgres.shardHolders()) {
      const known = all.get(name);
      all.set(name, this.#member(name, [...(known?.shards ?? []), shard], known?.isHeard ?? false));
    }
    return [...all.values()];
  }

  #member(id: string, shards: readonly number[], isHeard: boolean): Member {
    return { id, url: id, level: 1, version: '', leads: true, isLeading: shards.length > 0, shards, isHeard };
  }
}
