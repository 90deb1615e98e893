'use client';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { type Draft, diff } from '../../../server/domains/workflows/edits/index.ts';
import type { GraphStepInput } from '../../graph/layout.ts';
import { WorkflowGraph } from '../../graph/workflow-graph.tsx';
import { stepNames } from '../../runs/step-names.tsx';
import { type Outputs, useTRPC } from '../../trpc/provider.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { statusLook } from '../../ui/status-badge.tsx';
import { ChangeList } from './change-list.tsx';
import { NO_DRAFT, stateOf, stepsOfBoth, withoutMoves } from './describe-changes.ts';
import { changeMarks, withInnerSteps } from './inner-changes.ts';

type Version = Outputs['workflows_list_versions']['versions'][number];
type Props = { workflowId: string; version: Version | null; draft: Draft; onClose: () => void };

/** Shows the changes of a version, on the graph and as text. The dialog is open while `version` is not null. */
export function VersionChanges({ workflowId, version, draft, onClose }: Props) {
  return (
    <Dialog
      open={version !== null}
      onOpenChange={open => !open && onClose()}
      size="lg"
      title={version ? `Changes in version ${version.version}` : ''}
    >
      {version ? <Comparison key={version.version} workflowId={workflowId} version={version} draft={draft} /> : null}
    </Dialog>
  );
}

function Comparison({ workflowId, version, draft }: { workflowId: string; version: Version; draft: Draft }) {
  const trpc = useTRPC();
  const previous = version.version - 1;
  const [other, setOther] = useState(previous > 0 ? String(previous) : '');
  const isVersion = other !== '' && other !== 'draft';
  const read = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id: workflowId, version: isVersion ? Number(other) : 1 },
      { enabled: isVersion, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const own = useMemo(() => stateOf(version), [version]);
  const sides = useMemo((): [Draft, Draft] | null => {
    if (other === 'draft') return [own, { ...draft, name: '', description: '' }];
    if (!isVersion) return [NO_DRAFT, own];
    return read.data ? [stateOf(read.data), own] : null;
  }, [other, isVersion, read.data, own, draft]);
  const options = [
    ...Array.from({ length: Math.min(previous, 50) }, (_, n) => ({
      value: String(previous - n),
      label: `From version ${previous - n} to this one`,
    })),
    { value: 'draft', label: 'From this version to the draft' },
    { value: '', label: 'From the beginning' },
  ];
  return (
    <div className="flex flex-col gap-4">
      <Field label="Compare">
        <Select value={other} options={options} onChange={setOther} />
      </Field>
      {sides !== null ? (
        <Changes key={other} before={sides[0]} after={sides[1]} />
      ) : read.isError ? (
        <ErrorState error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton className="h-60 w-full" />
      )}
    </div>
  );
}

function Changes({ before, after }: { before: Draft; after: Draft }) {
  const changes = useMemo(() => withInnerSteps(diff(before, after)), [before, after]);
  const steps = useMemo(() => stepsOfBoth(before.graph, after.graph), [before, after]);
  const called = useMemo(() => stepNames(after.graph.steps, before.graph.steps), [before, after]);
  const displays = useMemo(
    () =>
      new Map(
        [...changeMarks(withoutMoves(changes.steps).steps)].map(([node, mark]) => [
          node,
          { status: mark, label: statusLook('step', mark).label, attempt: 0 },
        ]),
      ),
    [changes],
  );
  return (
    <>
      <div className="h-[40dvh]">
        <WorkflowGraph label="Changes in the graph" steps={steps as readonly GraphStepInput[]} displays={displays} />
      </div>
      <ChangeList diff={changes} called={called} />
    </>
  );
}
