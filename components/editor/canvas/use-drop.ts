'use client';
import { useReactFlow } from '@xyflow/react';
import { type DragEvent, useMemo } from 'react';
import type { Box } from '../../graph/containers.ts';
import { nodeSize } from '../../graph/layout.ts';
import { type Levels, levelAround } from '../../graph/levels.ts';
import type { CanvasProps } from './editor-canvas.tsx';

/** The media type of a dragged step type. */
export const STEP_TYPE_FORMAT = 'application/x-baton-step-type';

/** Handles the drop of a step type: on a connection, the new step is inserted into it; elsewhere, it is added at the drop position. */
export function useDrop(levels: Levels, boxes: ReadonlyMap<string, Box>, onAdd: CanvasProps['onAdd']) {
  const flow = useReactFlow();
  return useMemo(
    () => ({
      onDragOver: (event: DragEvent) => {
        if (event.dataTransfer.types.includes(STEP_TYPE_FORMAT)) event.preventDefault();
      },
      onDrop: (event: DragEvent) => {
        const type = event.dataTransfer.getData(STEP_TYPE_FORMAT);
        if (type === '') return;
        event.preventDefault();
        const over = document.elementFromPoint(event.clientX, event.clientY);
        const edgeId = over?.closest<SVGElement>('.react-flow__edge')?.dataset.id;
        const edge = edgeId === undefined ? undefined : flow.getEdge(edgeId);
        if (edge !== undefined) onAdd({ kind: 'between', from: edge.source, to: edge.target }, type);
        else {
          const point = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
          const { level, at } = levelAround(levels, boxes, point);
          const position = { x: Math.round(at.x - nodeSize.width / 2), y: Math.round(at.y - nodeSize.height / 2) };
          onAdd({ kind: 'free', position }, type, level);
        }
      },
    }),
    [flow, levels, boxes, onAdd],
  );
}
