'use client';
import { createContext, useContext } from 'react';
import type { Size } from '../../graph/notes.ts';
import type { Place } from '../editor-actions.ts';
import { PointedEdge } from './pointed-edge.ts';

export type CanvasActions = {
  /** Asks for the type of a new step, and adds it there. */
  add: (place: Place) => void;
  /** Does so for the first step of a loop that is open on the canvas. */
  addIn: (loop: string) => void;
  /** Opens or closes a loop; null where loops stay closed. */
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

/** Returns the actions of nodes and edges: the same object while the canvas lives, so that they are not drawn again. */
export const useCanvasActions = (): CanvasActions => useContext(CanvasActionsContext);
