'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useEffect, useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Checkbox, Field, Textarea } from '../ui/field.tsx';
import type { Json } from '../ui/json-tree.tsx';
import { FormError } from '../ui/states.tsx';

export type StartableWorkflow = { id: string; name: string; latest_version: number | null };
type JsonObject = { [key: string]: Json };

const lastInputKey = (id: string) => `baton_last_input:${id}`;

/** Parses a JSON object; says in words what is wrong with any other text. */
export function parseJsonObject(text: string): { value: JsonObject } | { error: string } {
  if (text.trim() === '') return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { error: 'The input must be a JSON object.' };
    return { value: value as JsonObject };
  } catch (error) {
    return { error: error instanceof Error ? error.message : 'This is not JSON.' };
  }
}

/** Starts a run of the latest published version with an input, then shows the run. Open while `workflow` is not null. */
export function StartRunDialog({ workflow, onClose }: { workflow: StartableWorkflow | null; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queries = useQueryClient();
  const [text, setText] = useState('{}');
  const [defaults, setDefaults] = useState(true);
  const [problem, setProblem] = useState<string | null>(null);
  const start = useMutation(
    trpc.workflows_execute_command.mutationOptions({
      onSuccess: run => {
        void queries.invalidateQueries();
        onClose();
        router.push(`/workflows/${run.workflow_id}/runs/${run.run_id}`);
      },
    }),
  );
  const id = workflow?.id;
  const { reset } = start;
  useEffect(() => {
    if (!id) return;
    setText(localStorage.getItem(lastInputKey(id)) ?? '{}');
    setProblem(null);
    reset();
  }, [id, reset]);

  const submit = () => {
    if (!workflow) return;
    const parsed = parseJsonObject(text);
    if ('error' in parsed) return setProblem(parsed.error);
    setProblem(null);
    localStorage.setItem(lastInputKey(workflow.id), text);
    const params = { trigger_type: 'manual', trigger_payload: parsed.value, use_run_setup_defaults: defaults };
    start.mutate({ id: workflow.id, command: 'start', params });
  };
  return (
    <Dialog
      open={workflow !== null}
      onOpenChange={open => !open && onClose()}
      title={`Run ${workflow?.name ?? ''}`}
      description={workflow ? `Version ${workflow.latest_version}` : undefined}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            pending={start.isPending}
            icon={<Play aria-hidden className="size-3.5" />}
            onClick={submit}
          >
            Start run
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <FormError error={start.error} />
        <Field label="Input" hint="A JSON object; steps read it as {{input.<field>}}." error={problem}>
          <Textarea
            rows={8}
            spellCheck={false}
            className="font-mono text-xs"
            value={text}
            onChange={event => setText(event.target.value)}
          />
        </Field>
        <Checkbox
          label="Merge the workflow's saved run set-up beneath"
          hint="What is given here wins."
          checked={defaults}
          onCheckedChange={setDefaults}
        />
      </div>
    </Dialog>
  );
}
