'use client';
import { type ReactFlowInstance, useReactFlow } from '@xyflow/react';
import { type RefObject, useCallback, useEffect, useRef } from 'react';
import { nodeSize } from '../../graph/layout.ts';
import type { Places } from '../editor-actions.ts';
import type { FocusRequest } from '../use-editor.ts';
import type { EditorFlowEdge } from './editor-edge.tsx';
import type { EditorFlowNode } from './editor-node.tsx';

/** Below this zoom the names of steps can no longer be read. */
const LEGIBLE_ZOOM = 0.6;
const MARGIN = 32;
/** The toolbars lie over the canvas at its top. */
const TOOLBARS = 56;

type Instance = ReactFlowInstance<EditorFlowNode, EditorFlowEdge>;

/** What the canvas shows: the whole graph at first where it can be read, else its beginning; later each step that asks for focus. */
export function useCanvasView(
  places: Places,
  focus: FocusRequest | null,
  onFocused: () => void,
  frame: RefObject<HTMLDivElement | null>,
): { onInit: (instance: Instance) => void } {
  const flow = useReactFlow();
  const latest = useRef(places);
  latest.current = places;
  const onInit = useCallback(
    (instance: Instance) => {
      const { clientWidth: width = 0, clientHeight: height = 0 } = frame.current ?? {};
      void instance.setViewport(firstView(latest.current, { width, height }));
    },
    [frame],
  );
  useEffect(() => {
    if (focus === null || focus.step === null) return;
    const { step, keyboard } = focus;
    const place = latest.current.get(step);
    const box = frame.current?.getBoundingClientRect();
    if (place === undefined || box === undefined) return;
    const corner = flow.flowToScreenPosition(place);
    const end = flow.flowToScreenPosition({ x: place.x + nodeSize.width, y: place.y + nodeSize.height });
    const visible = corner.x >= box.left && corner.y >= box.top && end.x <= box.right && end.y <= box.bottom - MARGIN;
    if (!visible) {
      const zoom = Math.max(flow.getZoom(), LEGIBLE_ZOOM);
      void flow.setCenter(place.x + nodeSize.width / 2, place.y + nodeSize.height / 2, { zoom });
    }
    if (keyboard !== 'canvas') return;
    // React Flow draws a step that was off the screen some frames later, and hides it until it is measured.
    const before = document.activeElement;
    let request = 0;
    const focusNode = () => {
      const { activeElement } = document;
      const movedOn = activeElement !== before && activeElement !== document.body;
      if (movedOn || !latest.current.has(step)) return;
      const node = frame.current?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(step)}"]`);
      node?.focus({ preventScroll: true });
      if (node && node === document.activeElement) onFocused();
      else request = requestAnimationFrame(focusNode);
    };
    focusNode();
    return () => cancelAnimationFrame(request);
  }, [focus, onFocused, flow, frame]);
  return { onInit };
}

/** Returns the view that a graph is opened with. */
function firstView(places: Places, size: { width: number; height: number }) {
  const all = [...places.values()];
  if (all.length === 0) return { x: 0, y: 0, zoom: 1 };
  const left = Math.min(...all.map(({ x }) => x));
  const right = Math.max(...all.map(({ x }) => x)) + nodeSize.width;
  const top = Math.min(...all.map(({ y }) => y));
  const bottom = Math.max(...all.map(({ y }) => y)) + nodeSize.height;
  const room = { width: size.width - 2 * MARGIN, height: size.height - TOOLBARS - MARGIN };
  const fitting = Math.min(room.width / (right - left), room.height / (bottom - top));
  const zoom = Math.min(1, Math.max(LEGIBLE_ZOOM, fitting));
  const fits = { x: (right - left) * zoom <= room.width, y: (bottom - top) * zoom <= room.height };
  // Where the graph is wider than the canvas, its first step is in the middle.
  const first = all.find(({ y }) => y === top);
  const centre = fits.x ? (left + right) / 2 : (first?.x ?? left) + nodeSize.width / 2;
  return {
    x: size.width / 2 - centre * zoom,
    y: fits.y ? (size.height + TOOLBARS - MARGIN) / 2 - ((top + bottom) / 2) * zoom : TOOLBARS - top * zoom,
    zoom,
  };
}
