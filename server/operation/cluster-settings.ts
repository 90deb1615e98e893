import { z } from 'zod';
import { optional } from '../platform/setting-types.ts';

const isOrigin = (url: string | undefined) =>
  url === undefined || (/^https?:\/\/[^/?#@\s]+\/?$/i.test(url) && URL.canParse(url));

export const clusterSchema = z.object({
  /** `on`: several processes on one database serve, and forward to one another. */
  BATON_CLUSTER: z.enum(['on', 'off']).default('off'),
  /** Where other nodes reach this one; default: the address from which it reaches the database, with its port. */
  BATON_NODE_URL: optional.refine(isOrigin, 'must be an address such as http://10.0.0.5:3000, without a path'),
  /** `off`: this node serves and forwards, and executes no runs. */
  BATON_CLUSTER_LEADS: z.enum(['on', 'off']).default('on'),
  /** Into how many parts the workspaces are divided that nodes lead; a power of two, the same on every node. */
  BATON_SHARDS: z.coerce
    .number('must be a power of two up to 1024')
    .refine(
      count => Number.isInteger(Math.log2(count)) && count >= 1 && count <= 1_024,
      'must be a power of two up to 1024',
    )
    .default(1),
});

export type ClusterSettings = {
  /** Undefined: found from the connection to the database. */
  nodeUrl: string | undefined;
  leads: boolean;
  shards: number;
  /** BATON_URL as it was configured, which all nodes must share; its default differs with the port. */
  publicUrl: string | undefined;
};

const NEEDED = {
  DATABASE_URL: 'the embedded database serves one process only',
  BATON_MASTER_KEY: 'every node needs the same key',
} as const;

/** Null without a cluster. Calls `problem` with what is missing. */
export function clusterSettings(
  read: z.output<typeof clusterSchema>,
  environment: Readonly<Record<string, string | undefined>>,
  problem: (line: string) => void,
): ClusterSettings | null {
  if (read.BATON_CLUSTER === 'off') return null;
  for (const [name, why] of Object.entries(NEEDED)) {
    if (environment[name] === undefined) problem(`BATON_CLUSTER: on needs ${name}: ${why}`);
  }
  return {
    nodeUrl: read.BATON_NODE_URL?.replace(/\/$/, ''),
    leads: read.BATON_CLUSTER_LEADS === 'on',
    shards: read.BATON_SHARDS,
    publicUrl: environment.BATON_URL?.replace(/\/+$/, ''),
  };
}
