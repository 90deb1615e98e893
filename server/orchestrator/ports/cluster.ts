import type { Placement } from '../shards/plan.ts';

/** A node of the cluster that is there: one of its sessions holds the lock of its id. */
export type Member = {
  id: string;
  /** Where other nodes reach it: an origin without a slash at its end. */
  url: string;
  /** The newest events of the log that it can read. */
  level: number;
  version: string;
  /** Whether it may lead. */
  leads: boolean;
  /** Whether it leads now: the session that writes the log is its own, and holds the lock of a shard. */
  isLeading: boolean;
  /** The shards that it leads. */
  shards: readonly number[];
  /** Whether the database has heard of it in the last seconds: a frozen node keeps its lock for a while. */
  isHeard: boolean;
};

/** The cluster as this node sees it: from the database once a second, and from its own requests to the others. */
export interface Cluster {
  /** This node. The id is new with each start. */
  readonly node: { readonly id: string; readonly url: string };
  /** The id that the deployment got when its first node began. Not secret. */
  readonly deploymentId: string;
  /** The nodes that are there, with this one. Empty while this node is none of them, because it cannot ask the database. */
  members(): readonly Member[];
  /** The number of shards of the deployment. */
  readonly shards: number;
  /** The node that leads a shard; null if none does, or it is not known. */
  owner(shard: number): Member | null;
  /** Returns whether every shard is led, as far as this node knows. */
  isLed(): boolean;
  /** Which nodes may lead, and which leads which shard; null while this node knows nothing of the others. */
  placement(): Placement | null;
  /** Why this node must not take the leadership, as a sentence for operators; null if it may. */
  whyNotLead(): string | null;
  /** Returns whether no other node that the database hears of has answered this one for five seconds. */
  isCutOff(): boolean;
}
