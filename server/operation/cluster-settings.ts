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
});

export type ClusterSettings = {
  /** Undefined: found from the connection to the database. */
  nodeUrl: string | undefined;
  leads: boolean;
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
    publicUrl: environment.BATON_URL?.replace(/\/+$/, ''),
  };
}
