'use client';
import { type ReactFlowInstance, useReactFlow } from '@xyflow/react';
import { type RefObject, useCallback, useEffect, useRef } from 'react';
import type { Box } from '../../graph/containers.ts';
import { firstView, LEGIBLE_ZOOM, MARGIN } from '../../graph/first-view.ts';
import { nodeSize } from '../../graph/layout.ts';
import type { FocusRequest } from '../use-editor.ts';
import type { CanvasNode } from './editor-canvas.tsx';
import type { EditorFlowEdge } from './editor-edge.tsx';

/** Matches the panels that cover the top of the canvas. */
const OVER_CANVAS = '[data-over-canvas]';
/** The distance in pixels between the covering panels and the first step. */
const GAP = 8;

/** Returns the height in pixels that the toolbars cover at the top of the canvas: on a phone, the toolbars take several rows. */
function coveredHeight(frame: HTMLElement): number {
  const { top } = frame.getBoundingClientRect();
  const above = frame.parentElement?.querySelectorAll(OVER_CANVAS) ?? [];
  const ends = [...above].map(each => each.getBoundingClientRect().bottom - top + GAP);
  return Math.max(MARGIN, ...ends);
}

/** Returns the duration of a view transition in ms; 0 for users who prefer reduced motion. */
const transitionMs = (): number => (window.matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 150);

type Instance = ReactFlowInstance<CanvasNode, EditorFlowEdge>;

/**
 * Moves the view of the canvas: first to the whole graph if it is legible at that size, otherwise to its beginning; later to each step
 * that requests the focus. `fit` shows the whole graph below the toolbars.
 */
export function useCanvasView(
  places: ReadonlyMap<string, Box>,
  focus: FocusRequest | null,
  onFocused: () => void,
  frame: RefObject<HTMLDivElement | null>,
): { onInit: (instance: Instance) => void; fit: () => void } {
  const flow = useReactFlow();
  const latest = useRef(places);
  latest.current = places;
  const onInit = useCallback(
    (instance: Instance) => {
      if (frame.current === null) return;
      const { clientWidth: width, clientHeight: height } = frame.current;
      const room = { width, height, top: coveredHeight(frame.current) };
      void instance.setViewport(firstView([...latest.current.values()], room));
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
    const covered = frame.current === null ? 0 : coveredHeight(frame.current);
    const top = box.top + covered;
    const visible = corner.x >= box.left && corner.y >= top && end.x <= box.right && end.y <= box.bottom - MARGIN;
    if (!visible) {
      const zoom = Math.max(flow.getZoom(), LEGIBLE_ZOOM);
      // Centers the step in the uncovered part, unless that part has almost no height.
      const lower = Math.min(covered, box.height - nodeSize.height - 2 * MARGIN) / 2 / zoom;
      const middle = { x: place.x + nodeSize.width / 2, y: place.y + nodeSize.height / 2 };
      void flow.setCenter(middle.x, middle.y - Math.max(0, lower), { zoom, duration: transitionMs() });
    }
    if (keyboard !== 'canvas') return;
    // React Flow renders a step that was off the screen some frames later, and hides the step until it is measured.
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
  const fit = useCallback(() => {
    if (frame.current === null) return;
    const rest = `${MARGIN}px` as const;
    const padding = { top: `${coveredHeight(frame.current)}px`, right: rest, bottom: rest, left: rest } as const;
    void flow.fitView({ padding, duration: transitionMs() });
  }, [flow, frame]);
  return { onInit, fit };
}
