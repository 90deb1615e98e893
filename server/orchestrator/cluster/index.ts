export type { Facts } from './join.ts';
export { LEADER_LOCK, processLock } from './locks.ts';
export { type ClusterOptions, joinCluster, type Membership } from './membership.ts';
