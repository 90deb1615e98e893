import { randomUUID } from 'node:crypto';
import { type Alarm, type Clock, systemAlarm } from '../../platform/clock.ts';
import { pause } from '../../platform/deadlines.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Cluster, Member } from '../ports/cluster.ts';
import type { Placement } from '../shards/plan.ts';
import { type Facts, join, LEVEL, UrlTakenError } from './join.ts';
import { LEADER_LOCK } from './locks.ts';
import { type NodeRow, readSight, recordNode, removeNodes, type Sight } from './member-queries.ts';
import { type MemberSession, nodeUrlOf, openMemberSession } from './member-session.ts';
import { type Probe, probeByHttp } from './probe.ts';
import { Reach } from './reach.ts';
import { clockAhead, membersIn } from './sight.ts';

const LOOK_EVERY_MS = 1_000;
/** While a shard is free, requests wait for who will lead it. */
const LOOK_SOON_MS = 200;
/** Members that were seen longer ago than this are no longer believed. */
const STALE_MS = 5_000;
const REJOIN_AFTER_MS = 500;
/** Timers, leases and dates are by the clocks of nodes. */
const CLOCK_TOLERANCE_MS = 5_000;
/** The session of a process that was killed with its machine lives for ten seconds. */
const URL_TAKEN_FOR_MS = 15_000;

export type ClusterOptions = {
  connectionString: string;
  /** Undefined: by the connection to the database, with `port`. */
  url: string | undefined;
  port: number;
  /** Whether this node may lead. */
  leads: boolean;
  /** The number of shards of the deployment. */
  shards: number;
  version: string;
  facts: Facts;
  clock: Clock;
  logger: Logger;
  alarm?: Alarm;
  /** Default: performance.now, in ms. */
  elapsed?: () => number;
  probe?: Probe;
  leaderLock?: number;
};

export type Membership = Cluster & {
  /** Ends the membership; others see it at once. */
  close(): Promise<void>;
};

/**
 * Joins the cluster, and stays a member until closed, also through losses of the session. Throws MisconfiguredError, in
 * one line, where this node does not fit in with those that run.
 */
export async function joinCluster(options: ClusterOptions): Promise<Membership> {
  const session = await openMemberSession(options.connectionString);
  try {
    const url = options.url ?? nodeUrlOf(session.localAddress, options.port);
    const node: NodeRow = { id: randomUUID(), url, level: LEVEL, version: options.version, leads: options.leads };
    const membership = new Node(node, options);
    await membership.begin(session);
    return membership;
  } catch (error) {
    await session.end();
    throw error;
  }
}

/** A node of an older build leads without the locks of shards, and leads all of them. */
const leadsAll = ({ isLeading, shards }: Member): boolean => isLeading && shards.length === 0;

class Node implements Membership {
  readonly node: NodeRow;
  deploymentId = '';
  readonly #options: ClusterOptions;
  readonly #alarm: Alarm;
  readonly #elapsed: () => number;
  readonly #reach: Reach;
  readonly #closing = new AbortController();
  #members: readonly Member[] = [];
  #seenAt = Number.NEGATIVE_INFINITY;
  #clockFault: string | null = null;
  #isLost = false;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(node: NodeRow, options: ClusterOptions) {
    this.node = node;
    this.#options = options;
    this.#alarm = options.alarm ?? systemAlarm;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    const { probe = probeByHttp, logger } = options;
    this.#reach = new Reach(node.id, { probe, logger, elapsed: this.#elapsed });
  }

  members(): readonly Member[] {
    return this.#elapsed() - this.#seenAt < STALE_MS ? this.#members : [];
  }

  get shards(): number {
    return this.#options.shards;
  }

  owner(shard: number): Member | null {
    return this.members().find(member => member.shards.includes(shard) || leadsAll(member)) ?? null;
  }

  isLed(): boolean {
    const members = this.members();
    return members.some(leadsAll) || new Set(members.flatMap(({ shards }) => shards)).size === this.shards;
  }

  placement(): Placement | null {
    const members = this.members();
    if (members.length === 0) return null;
    const owners = new Map(members.flatMap(({ id, shards }) => shards.map(shard => [shard, id] as const)));
    const candidates = members.filter(({ leads, isHeard }) => leads && isHeard);
    return { shards: this.shards, candidates, owners, levels: new Map() };
  }

  whyNotLead(): string | null {
    if (!this.#options.leads) return 'This node does not lead (BATON_CLUSTER_LEADS).';
    return this.#clockFault ?? (this.members().length === 0 ? 'This node is not a member of the cluster.' : null);
  }

  isCutOff(): boolean {
    return this.#reach.isCutOff;
  }

  async begin(session: MemberSession): Promise<void> {
    await this.#joinOnceFree(session);
    await this.#look(session);
    this.#ended = Promise.all([this.#stay(session), this.#probe()]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  /** A process that was replaced may be there for a moment longer. */
  async #joinOnceFree(session: MemberSession): Promise<void> {
    const began = this.#elapsed();
    for (;;) {
      try {
        this.deploymentId = await join(session.client, this.node, this.#options);
        return;
      } catch (error) {
        if (!(error instanceof UrlTakenError) || this.#elapsed() - began >= URL_TAKEN_FOR_MS) throw error;
        await pause(this.#alarm, LOOK_EVERY_MS, this.#closing.signal);
      }
    }
  }

  /** Looks until closed; where the session is lost, it joins again with another one. */
  async #stay(first: MemberSession): Promise<void> {
    const { signal } = this.#closing;
    let session = first;
    let joined = true;
    while (!signal.aborted) {
      try {
        if (!joined) {
          session = await openMemberSession(this.#options.connectionString);
          await join(session.client, this.node, this.#options);
          joined = true;
        }
        await this.#look(session);
        await pause(this.#alarm, this.isLed() ? LOOK_EVERY_MS : LOOK_SOON_MS, signal);
      } catch (error) {
        joined = false;
        this.#lost(error);
        await session.end();
        await pause(this.#alarm, REJOIN_AFTER_MS, signal);
      }
    }
    if (joined) await removeNodes(session.client, [this.node.id]).catch(() => undefined);
    await session.end();
  }

  async #probe(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#reach.ask(this.members(), signal);
      await pause(this.#alarm, LOOK_EVERY_MS, signal);
    }
  }

  async #look({ client, lost }: MemberSession): Promise<void> {
    lost.throwIfAborted();
    const { clock, leaderLock = LEADER_LOCK } = this.#options;
    const seenAt = this.#elapsed();
    const before = clock.now();
    const sight: Sight = await readSight(client, leaderLock);
    const ahead = clockAhead(sight.databaseMs, { before, after: clock.now() });
    const { members, gone } = membersIn(sight, leaderLock);
    if (!members.some(({ id }) => id === this.node.id)) await recordNode(client, this.node, before);
    if (gone.length > 0)
      await removeNodes(
        client,
        gone.filter(id => id !== this.node.id),
      );
    this.#seenAt = seenAt;
    this.#noteMembers(members);
    this.#noteClock(ahead);
    this.#back();
  }

  #noteMembers(members: readonly Member[]): void {
    const ids = (of: readonly Member[]) => of.map(({ id }) => id).join();
    if (ids(members) !== ids(this.#members)) {
      const nodes = members.map(({ url, shards }) => ({ url, shards: shards.length }));
      this.#options.logger.info({ nodes }, 'nodes of the cluster');
    }
    this.#members = members;
  }

  #noteClock(ahead: number): void {
    const { logger } = this.#options;
    const isOff = Math.abs(ahead) > CLOCK_TOLERANCE_MS;
    const by = `${(Math.abs(ahead) / 1000).toFixed(1)} s ${ahead > 0 ? 'ahead of' : 'behind'}`;
    const fault = isOff ? `The clock of this node is ${by} that of the database.` : null;
    if (fault !== null && this.#clockFault === null)
      logger.error({ aheadMs: ahead }, `${fault} It takes no leadership.`);
    if (fault === null && this.#clockFault !== null) logger.info({ aheadMs: ahead }, 'the clock is right again');
    this.#clockFault = fault;
  }

  #lost(error: unknown): void {
    if (this.#isLost || this.#closing.signal.aborted) return;
    this.#isLost = true;
    this.#options.logger.warn({ err: error }, 'this node is no longer a member of the cluster; it tries to join again');
  }

  #back(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#options.logger.info({ url: this.node.url }, 'this node is a member of the cluster again');
  }
}
