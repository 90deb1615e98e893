'use client';
import { useStore } from '@xyflow/react';

/** Below this zoom the names of steps (14 px) are smaller than 11 px, so only icon and color are drawn. */
const FAR_BELOW = 0.785;
/** Below this zoom the line under the name (12 px) is smaller than 11 px. */
const MIDDLE_BELOW = 0.915;

/**
 * Returns how much of each step is drawn at the present zoom. The element around a graph has it as `data-detail`, and
 * the class `group/graph`. Only styles depend on it, so that zooming renders no step again.
 */
export const useDetailLevel = (): 'near' | 'middle' | 'far' =>
  useStore(({ transform: [, , zoom] }) => (zoom < FAR_BELOW ? 'far' : zoom < MIDDLE_BELOW ? 'middle' : 'near'));
