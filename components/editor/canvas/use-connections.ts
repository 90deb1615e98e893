'use client';
import type { Connection, OnConnectEnd, OnReconnect } from '@xyflow/react';
import { type RefObject, useMemo } from 'react';
import type { Branch } from '../../../server/domains/workflows/edits/index.ts';
import type { CanvasProps } from './editor-canvas.tsx';
import type { EditorFlowEdge } from './editor-edge.tsx';

const branchOf = (handle: string | null | undefined): Branch | undefined =>
  handle === 'then' || handle === 'else' ? handle : undefined;

/** Connects steps by dragging from a handle: a drop on a step connects the two steps, a drop on the empty canvas adds a step. */
export function useConnections({ onConnect, onReconnect, onAdd }: CanvasProps, frame: RefObject<HTMLElement | null>) {
  return useMemo(() => {
    const onConnectEnd: OnConnectEnd = (event, { fromNode, fromHandle, toNode, isValid }) => {
      if (isValid || fromNode === null || fromHandle === null || toNode !== null) return;
      const point = 'changedTouches' in event ? event.changedTouches[0] : event;
      if (point === undefined) return;
      const over = document.elementFromPoint(point.clientX, point.clientY);
      if (over === null || !frame.current?.contains(over)) return;
      const node = over.closest<HTMLElement>('.react-flow__node')?.dataset.id;
      // For a connection that starts inside an expanded loop, the loop counts as canvas.
      const target = node !== undefined && fromNode.id.startsWith(`${node}.`) ? undefined : node;
      const branch = branchOf(fromHandle.id);
      if (target !== undefined && target !== fromNode.id) {
        if (fromHandle.type === 'source') onConnect(fromNode.id, target, branch);
        else onConnect(target, fromNode.id, undefined);
      } else if (target === undefined && fromHandle.type === 'source') {
        onAdd({ kind: 'after', step: fromNode.id, ...(branch ? { branch } : {}) });
      }
    };
    const reconnect: OnReconnect<EditorFlowEdge> = (edge, next) => {
      const branch = branchOf(next.sourceHandle);
      onReconnect(
        { from: edge.source, to: edge.target },
        { from: next.source, to: next.target, ...(branch ? { branch } : {}) },
      );
    };
    return {
      onConnect: ({ source, target, sourceHandle }: Connection) => onConnect(source, target, branchOf(sourceHandle)),
      onConnectEnd,
      onReconnect: reconnect,
    };
  }, [onConnect, onReconnect, onAdd, frame]);
}
