import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Cluster } from '../../orchestrator/ports/cluster.ts';
import { clientAddress } from '../client-address.ts';

/** The addresses of the other nodes of the cluster, as limits count them. */
export class NodeAddresses {
  readonly #cluster: Pick<Cluster, 'members' | 'node'>;
  /** By the host of a node's URL. */
  #known = new Map<string, readonly string[]>();
  #hosts = '';

  constructor(cluster: Pick<Cluster, 'members' | 'node'>) {
    this.#cluster = cluster;
  }

  has(address: string): boolean {
    this.#refresh();
    for (const addresses of this.#known.values()) if (addresses.includes(address)) return true;
    return false;
  }

  /** Names are resolved when the nodes have changed; until then the node's connections count like those of clients. */
  #refresh(): void {
    const { node } = this.#cluster;
    const others = this.#cluster.members().filter(({ id }) => id !== node.id);
    const hosts = [...new Set(others.map(({ url }) => new URL(url).hostname.replace(/^\[|\]$/g, '')))];
    if (hosts.join() === this.#hosts) return;
    this.#hosts = hosts.join();
    const before = this.#known;
    this.#known = new Map(
      hosts.map(host => [host, isIP(host) === 0 ? (before.get(host) ?? []) : [clientAddress(host, undefined, 0)]]),
    );
    for (const host of hosts) if (isIP(host) === 0) void this.#resolve(host);
  }

  async #resolve(host: string): Promise<void> {
    const found = await lookup(host, { all: true }).catch(() => []);
    if (this.#known.has(host))
      this.#known.set(
        host,
        found.map(({ address }) => clientAddress(address, undefined, 0)),
      );
  }
}
