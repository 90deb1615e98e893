'use client';
import { useEffect, useMemo, useState } from 'react';
import {
  applyEvent,
  isTerminal,
  type RunState,
  type Snapshot,
  stateOf,
  type WireEvent,
} from '@/server/domains/runs/reading/run-state.ts';
import { useSession } from '../session/session.tsx';
import { RunStream, type StreamState } from './run-stream.ts';

/**
 * A live run. State and `events` are mutated in place, and `revision` counts the changes. A memo that depends on them must depend on
 * `revision`.
 */
export type LiveRun = {
  state: RunState;
  /** The events after the snapshot, without gaps. */
  events: WireEvent[];
  /** The last event that the snapshot covers. */
  snapshotSeq: number;
  revision: number;
  stream: StreamState;
};

function streamUrl(workflowId: string, runId: string, scope: { tenant: string; project: string }): string {
  const url = new URL(`/v1/workflows/${workflowId}/stream`, window.location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  // A browser cannot set headers on a WebSocket, so the scope travels in the query.
  url.search = new URLSearchParams({ run_id: runId, tenant_id: scope.tenant, project_id: scope.project }).toString();
  return url.href;
}

/**
 * Returns the state of a run. The state begins with the snapshot, and follows the stream of events from the snapshot's sequence number
 * until the run has ended. `stepIds` are the steps of the run's version. The calling component needs the run's id as its key.
 */
export function useRun(snapshot: Snapshot, stepIds: readonly string[]): LiveRun {
  const { tenant, project } = useSession().scope;
  const [run] = useState(() => ({
    state: stateOf(snapshot, stepIds),
    events: [] as WireEvent[],
    snapshotSeq: snapshot.last_seq,
  }));
  const [revision, setRevision] = useState(0);
  const [stream, setStream] = useState<StreamState>(isTerminal(run.state.status) ? 'closed' : 'connecting');
  const { workflow_id: workflowId, run_id: runId } = snapshot;
  useEffect(() => {
    if (isTerminal(run.state.status)) return;
    const connection = new RunStream(
      {
        url: streamUrl(workflowId, runId, { tenant, project }),
        onEvents: events => {
          for (const event of events) if (applyEvent(run.state, event)) run.events.push(event);
          setRevision(count => count + 1);
          if (isTerminal(run.state.status)) connection.close();
        },
        onState: setStream,
      },
      run.state.lastSeq,
    );
    return () => connection.close();
  }, [run, workflowId, runId, tenant, project]);
  return useMemo(() => ({ ...run, revision, stream }), [run, revision, stream]);
}
