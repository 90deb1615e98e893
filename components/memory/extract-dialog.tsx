'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { type ReactNode, useState } from 'react';
import { ModelField } from '../editor/inspector/pickers.tsx';
import { useSession } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { ErrorState } from '../ui/states.tsx';
import { useRefreshMemory } from './use-refresh-memory.ts';
import { counted } from './words.ts';

type Job = Outputs['memory_extract_get'];
/** The polling interval for the job. A model needs some seconds for a conversation. */
const POLL_MS = 1_000;
const isOver = ({ status }: Job): boolean => status !== 'queued' && status !== 'running';

type Props = {
  /** The kind of source that the model reads. */
  what: 'conversation' | 'run' | 'file';
  /** Returns the id of the episode to read. This call may store the episode first. */
  episode: () => Promise<string>;
  onClose: () => void;
  /** Further fields. */
  children?: ReactNode;
};

/** Starts an extraction from an episode with a chosen model, and shows its progress. */
export function ExtractDialog({ what, episode, onClose, children }: Props) {
  const trpc = useTRPC();
  const [model, setModel] = useState('');
  const { me } = useSession();
  const catalog = useQuery(trpc.llm_catalog_list.queryOptions({}));
  const settings = useQuery(trpc.chat_get_settings.queryOptions({}, { enabled: me.agents }));
  const first = catalog.data?.providers
    .filter(({ configured }) => configured)
    .flatMap(({ models }) => models)
    .find(({ supports }) => !supports.embeddings)?.id;
  const chosen = model || settings.data?.extraction_model || (first ?? '');
  const extract = useMutation(trpc.memory_extract_batch.mutationOptions());
  const start = useMutation({
    mutationFn: async () => extract.mutateAsync({ episode_ids: [await episode()], model: chosen }),
  });
  if (start.data) return <Progress what={what} job={start.data} onClose={onClose} />;
  return (
    <FormDialog
      onClose={onClose}
      title="Extract memories"
      description={`A model reads the ${what} and proposes what to remember. You review the proposals.`}
      action="Extract"
      noValidate
      pending={start.isPending}
      disabled={chosen === ''}
      error={start.error}
      onSubmit={() => start.mutate()}
    >
      <ModelField
        field={{ hint: 'provider/model, such as openai/gpt-5' }}
        value={chosen}
        onChange={value => setModel(typeof value === 'string' ? value : '')}
        problem={undefined}
        readOnly={false}
      />
      {children}
    </FormDialog>
  );
}

function Progress({ what, job: started, onClose }: Pick<Props, 'what' | 'onClose'> & { job: Job }) {
  const trpc = useTRPC();
  const refresh = useRefreshMemory();
  const read = useQuery(
    trpc.memory_extract_get.queryOptions(
      { jobId: started.job_id },
      { refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : POLL_MS), staleTime: 0 },
    ),
  );
  const job = read.data ?? started;
  const hasEnded = isOver(job);
  const close = () => {
    void refresh();
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={open => !open && close()}
      title="Extract memories"
      footer={
        <div className="flex w-full justify-end gap-2">
          <Button onClick={close}>{hasEnded ? 'Close' : 'Continue in the background'}</Button>
          {hasEnded && job.proposed > 0 ? (
            <ButtonLink variant="primary" href="/memory?view=review" onClick={() => void refresh()}>
              Review
            </ButtonLink>
          ) : null}
        </div>
      }
    >
      {read.isError ? <ErrorState error={read.error} onRetry={() => void read.refetch()} /> : null}
      <p role="status" className="text-sm">
        {hasEnded ? endOf(job, what) : `Reading: ${job.done} of ${counted(job.total, 'part')}`}
      </p>
      {hasEnded ? <Result job={job} /> : null}
      <Link
        href={`/workflows/${job.workflow_id}/runs/${job.job_id}`}
        className="mt-3 inline-block text-xs text-accent-text hover:underline"
      >
        Open the run
      </Link>
    </Dialog>
  );
}

function endOf({ status }: Job, what: Props['what']): string {
  if (status === 'stopped') return 'The extraction was stopped.';
  return status === 'completed' ? `The ${what} was read.` : 'Nothing could be extracted.';
}

function Result({ job: { proposed, merged, superseded, dropped, failed, errors } }: { job: Job }) {
  const lines: [number, string][] = [
    [proposed, `${counted(proposed, 'new memory', 'new memories')}`],
    [merged, `${counted(merged, 'quote')} for items that exist already`],
    [superseded, `${counted(superseded, 'memory', 'memories')} replaced as requested`],
    [dropped, `${counted(dropped, 'finding')} without a quote discarded`],
    [failed, `${counted(failed, 'part')} that could not be read`],
  ];
  const shown = lines.filter(([count]) => count > 0);
  return (
    <>
      <ul aria-label="Result" className="mt-2 flex flex-col gap-1 text-sm text-muted">
        {shown.length === 0 ? <li>Nothing to remember.</li> : null}
        {shown.map(([, text]) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {errors.map(({ code, message }) => (
        <p key={`${code} ${message}`} role="alert" className="mt-2 text-xs wrap-anywhere text-bad">
          {message}
        </p>
      ))}
    </>
  );
}
