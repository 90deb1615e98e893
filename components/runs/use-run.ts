'use client';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useSession } from '../shell/session.tsx';
import { RunStream, type StreamState } from './run-stream.ts';
import { applyEvent, isTerminal, newRunView, type RunView } from './run-view.ts';

/** A run's view while it changes. `revision` counts the changes: use it where a memo depends on the view, which is changed in place. */
export type LiveRun = { view: RunView; revision: number; stream: StreamState };

function streamUrl(workflowId: string, runId: string, scope: { tenant: string; project: string }): string {
  const url = new URL(`/v1/workflows/${workflowId}/stream`, window.location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  // A browser cannot set headers on a WebSocket, so the scope travels in the query.
  url.search = new URLSearchParams({ run_id: runId, tenant_id: scope.tenant, project_id: scope.project }).toString();
  return url.href;
}

/**
 * Everything that has happened in a run, replayed from its log and then followed live; the connection ends with the run.
 * `stepIds` are the steps of its version, so that those not begun are shown too.
 */
export function useRun(workflowId: string, runId: string, stepIds: readonly string[] | undefined): LiveRun | null {
  const { scope } = useSession();
  const [revision, setRevision] = useState(0);
  const [stream, setStream] = useState<StreamState>('connecting');
  const view = useRef<RunView | null>(null);
  const { tenant, project } = scope;
  useEffect(() => {
    if (!stepIds) return;
    const current = newRunView(stepIds);
    view.current = current;
    setRevision(count => count + 1);
    const connection = new RunStream({
      url: streamUrl(workflowId, runId, { tenant, project }),
      onEvents: events => {
        for (const event of events) applyEvent(current, event);
        setRevision(count => count + 1);
        if (isTerminal(current.status) || current.rejected) connection.close();
      },
      onState: setStream,
    });
    return () => connection.close();
  }, [workflowId, runId, stepIds, tenant, project]);
  const current = view.current;
  return useMemo(() => (current ? { view: current, revision, stream } : null), [current, revision, stream]);
}
