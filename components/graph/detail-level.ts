'use client';
import { useStore } from '@xyflow/react';

/** Below this zoom the names of steps cannot be read: a step is its icon and its color then. */
const FAR_BELOW = 0.45;

/**
 * Returns how much of each step is drawn at the present zoom. For `data-detail` of the element around a graph, which also has the class
 * `group/graph`: styles alone follow it, so that zooming renders no step again.
 */
export const useDetailLevel = (): 'near' | 'far' =>
  useStore(({ transform }) => (transform[2] < FAR_BELOW ? 'far' : 'near'));
