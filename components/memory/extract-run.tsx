'use client';
import { useMutation } from '@tanstack/react-query';
import { Brain } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import type { Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { turnsOfRun } from './run-turns.ts';
import { type Visibility, visibilityLabels } from './words.ts';

const ExtractDialog = dynamic(() => import('./extract-dialog.tsx').then(module => module.ExtractDialog), {
  ssr: false,
});
const offered: readonly Visibility[] = ['private', 'project'];

type Props = { run: Pick<Snapshot, 'workflow_id' | 'run_id' | 'workflow_name'>; failure: Snapshot['error'] };

/**
 * Stores a run's input and results as an episode, and lets a model propose memories from it. Renders nothing if memory
 * is off or the reader may not write.
 */
export function ExtractRun({ run, failure }: Props) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { me } = useSession();
  const { canWrite } = usePermissions();
  const [open, setOpen] = useState(false);
  const [visibility, setVisibility] = useState<Visibility>('private');
  const index = useMutation(trpc.memory_index_conversation.mutationOptions());
  if (!me.memory || !canWrite) return null;
  const { workflow_id, run_id, workflow_name: name } = run;
  const episode = async () => {
    const context = await client.runs_get_context.query({ id: workflow_id, runID: run_id });
    const turns = turnsOfRun(context, failure);
    if (turns.length === 0) throw new Error('The run has neither input nor results.');
    const title = `Run of ${name}`.slice(0, 200);
    const kept = await index.mutateAsync({ run_id, workflow_id, title, turns, visibility });
    return kept.episode_id;
  };
  return (
    <>
      <IconButton label="Extract memories" variant="secondary" onClick={() => setOpen(true)}>
        <Brain aria-hidden className="size-4" />
      </IconButton>
      {open ? (
        <ExtractDialog what="run" episode={episode} onClose={() => setOpen(false)}>
          <Field label="Visible to">
            <Select
              value={visibility}
              options={offered.map(value => ({ value, label: visibilityLabels[value] }))}
              onChange={setVisibility}
            />
          </Field>
        </ExtractDialog>
      ) : null}
    </>
  );
}
