'use client';
import { createContext, useContext } from 'react';
import type { Size } from '../../graph/notes.ts';
import type { Place } from '../editor-actions.ts';
import { PointedEdge } from './pointed-edge.ts';

export type CanvasActions = {
  /** Opens the palette to choose the type of a new step at this place. */
  add: (place: Place) => void;
  /** Opens the palette for the first step of a loop that is expanded on the canvas. */
  addIn: (loop: string) => void;
  /** Expands or collapses a loop; null if loops stay collapsed. */
  toggleLoop: ((loop: string, open: boolean) => void) | null;
  disconnect: (from: string, to: string) => void;
  resizeNote: (note: string, size: Size) => void;
  pointed: PointedEdge;
};

export const CanvasActionsContext = createContext<CanvasActions>({
  add: () => undefined,
  addIn: () => undefined,
  toggleLoop: null,
  disconnect: () => undefined,
  resizeNote: () => undefined,
  pointed: new PointedEdge(),
});

/**
 * Returns the actions of nodes and edges. The object is constant while the canvas is mounted, so nodes do not render
 * again.
 */
export const useCanvasActions = (): CanvasActions => useContext(CanvasActionsContext);
