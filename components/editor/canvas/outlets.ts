import { type NodeHandle, Position } from '@xyflow/react';
import type { Branch } from '../../../server/domains/workflows/edits/index.ts';
import { nodeSize } from '../../graph/layout.ts';
import type { Size } from '../../graph/notes.ts';

/** The point where a connection leaves a step. `at` is its position along the lower edge. */
export type Outlet = { id: string; branch: Branch | undefined; at: number; name: string };

const out: Outlet = { id: 'out', branch: undefined, at: 0.5, name: 'in either case' };
const plain: readonly Outlet[] = [out];
const branching: readonly Outlet[] = [
  { id: 'then', branch: 'then', at: 0.2, name: 'then' },
  out,
  { id: 'else', branch: 'else', at: 0.8, name: 'else' },
];

/** Returns the outlets of a step. A condition has one outlet for each branch. */
export const outletsOf = (hasBranches: boolean): readonly Outlet[] => (hasBranches ? branching : plain);

/** The side length of a handle, as the node draws it. */
const HANDLE_SIDE = 10;
const handleAt = (at: number, y: number, width = nodeSize.width) => ({
  x: width * at - HANDLE_SIDE / 2,
  y: y - HANDLE_SIDE / 2,
  width: HANDLE_SIDE,
  height: HANDLE_SIDE,
});
const handles = (outlets: readonly Outlet[]): NodeHandle[] => [
  { type: 'target', position: Position.Top, ...handleAt(0.5, 0) },
  ...outlets.map(({ id, at }) => ({
    id,
    type: 'source' as const,
    position: Position.Bottom,
    ...handleAt(at, nodeSize.height),
  })),
];
const plainHandles = handles(plain);
const branchingHandles = handles(branching);

/** Returns the handles of a step. Without them, React Flow renders every step once to measure its handles. */
export const handlesOf = (hasBranches: boolean): NodeHandle[] => (hasBranches ? branchingHandles : plainHandles);

/** Returns the handles of an expanded loop. */
export const handlesAt = ({ width, height }: Size): NodeHandle[] => [
  { type: 'target', position: Position.Top, ...handleAt(0.5, 0, width) },
  { id: out.id, type: 'source', position: Position.Bottom, ...handleAt(0.5, height, width) },
];
