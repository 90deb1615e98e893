import { callOperations } from './calls/operations.ts';
import { eventOperations } from './events/operations.ts';
import { loopOperations } from './loops/operations.ts';
import { readingOperations } from './reading/operations.ts';
import { rerunOperations } from './reruns/operations.ts';
import { startOperations } from './start/operations.ts';
import { stepOperations } from './steps/operations.ts';
import { testRunOperations } from './test-runs/operations.ts';
import { valueOperations } from './values/operations.ts';
import { waitingOperations } from './waiting/operations.ts';

/** The operations on runs, in the order of the documents of the API. */
export const runOperations = [
  ...startOperations,
  ...waitingOperations,
  ...testRunOperations,
  ...readingOperations,
  ...eventOperations,
  ...callOperations,
  ...valueOperations,
  ...stepOperations,
  ...loopOperations,
  ...rerunOperations,
] as const;
