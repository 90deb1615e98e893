import type { Logger } from '../../platform/logger.ts';
import type { Member } from '../ports/cluster.ts';
import type { Probe, ProbeResult } from './probe.ts';

/** A node must be silent for this long before anything is said or done about it. */
export const CUT_OFF_MS = 5_000;

/**
 * Which nodes answer this one. It asks each, itself as well: an address that is wrong is found by the node that has it and
 * by the others.
 */
export class Reach {
  readonly #own: string;
  readonly #probe: Probe;
  readonly #logger: Logger;
  readonly #elapsed: () => number;
  readonly #nodes = new Map<string, { result: ProbeResult; since: number; isReported: boolean }>();
  #cutOffSince: number | null = null;

  constructor(own: string, { probe, logger, elapsed }: { probe: Probe; logger: Logger; elapsed: () => number }) {
    this.#own = own;
    this.#probe = probe;
    this.#logger = logger;
    this.#elapsed = elapsed;
  }

  /** Whether no other node that the database hears of has answered for so long. */
  get isCutOff(): boolean {
    return this.#cutOffSince !== null && this.#elapsed() - this.#cutOffSince >= CUT_OFF_MS;
  }

  /** Asks every node once, at the same time. Does not reject. */
  async ask(members: readonly Member[], closing: AbortSignal): Promise<void> {
    const began = this.#elapsed();
    const results = await Promise.all(members.map(member => this.#probe(member, closing)));
    if (closing.aborted) return;
    const present = new Set(members.map(({ id }) => id));
    for (const id of this.#nodes.keys()) if (!present.has(id)) this.#nodes.delete(id);
    for (const [index, member] of members.entries()) this.#note(member, results[index] ?? 'silent', began);
    const others = members.filter(({ id, isHeard }) => id !== this.#own && isHeard);
    const isSilent = others.length > 0 && others.every(({ id }) => this.#nodes.get(id)?.result !== 'answers');
    this.#cutOffSince = isSilent ? (this.#cutOffSince ?? began) : null;
  }

  /** Says once that a node does not answer, and once that it answers again. */
  #note({ id, url, isHeard }: Member, result: ProbeResult, at: number): void {
    const before = this.#nodes.get(id);
    const known = before?.result === result ? before : { result, since: at, isReported: false };
    this.#nodes.set(id, known);
    if (result === 'answers') {
      if (before?.isReported) this.#logger.info({ node: id, url }, 'the node answers again');
      return;
    }
    if (known.isReported || !isHeard || (result === 'silent' && this.#elapsed() - known.since < CUT_OFF_MS)) return;
    known.isReported = true;
    const [what, advice] =
      id === this.#own
        ? ['the address of this node', 'set BATON_NODE_URL to where other nodes reach it, and HOST to listen there']
        : ['the address of another node', 'requests for what it leads are answered with 503'];
    const fault = result === 'silent' ? 'does not answer' : 'leads to another node';
    this.#logger.error({ node: id, url }, `${what} ${fault}: ${advice}`);
  }
}
