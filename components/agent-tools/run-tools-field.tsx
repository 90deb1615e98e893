'use client';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';
import { Select } from '../ui/select.tsx';
import { type RunChoice, type RunToolKind, runToolsOf, withRunTool } from './run-tool-choices.ts';
import type { AgentTools } from './tool-choices.ts';

type Props = {
  tools: AgentTools;
  onChange: (tools: AgentTools) => void;
  readOnly: boolean;
  /** The agent with the tools. */
  agentId: string;
};
type Listed = { id: string; name: string; description: string };

/** Edits the workflows that an agent may start as tools. */
export function WorkflowToolsField(props: Props) {
  const trpc = useTRPC();
  const list = useQuery(trpc.workflows_list.queryOptions({ limit: 100, status: 'published', graphs: false }));
  return <RunTools {...props} kind="workflow" listed={list.data?.workflows} />;
}

/** Edits the other agents that an agent may call as tools. */
export function AgentToolsField(props: Props) {
  const trpc = useTRPC();
  const list = useQuery(trpc.agents_list.queryOptions({ limit: 100 }));
  return <RunTools {...props} kind="agent" listed={list.data?.agents} />;
}

const texts = {
  workflow: { title: 'Workflows', add: 'Add a workflow as a tool', path: '/workflows' },
  agent: { title: 'Other agents', add: 'Add another agent as a tool', path: '/agents' },
} as const;

const options = {
  workflow: [
    { value: 'default', label: 'Default', hint: 'Starts it right away if it is read-only, otherwise asks' },
    { value: 'auto', label: 'Auto', hint: 'Starts it without asking' },
    { value: 'ask', label: 'Ask', hint: 'A person approves each call' },
    { value: 'never', label: 'Never', hint: 'Hidden from the model' },
  ],
  agent: [
    { value: 'default', label: 'Ask', hint: 'A person approves each call' },
    { value: 'auto', label: 'Auto', hint: 'Asks the other agent right away' },
    { value: 'never', label: 'Never', hint: 'Hidden from the model' },
  ],
} as const;

function RunTools({
  kind,
  listed: loaded,
  tools,
  onChange,
  readOnly,
  agentId,
}: Props & { kind: RunToolKind; listed: readonly Listed[] | undefined }) {
  const { title, add, path } = texts[kind];
  const listed = loaded ?? [];
  const chosen = runToolsOf(tools, kind);
  const others = listed.filter(({ id }) => id !== agentId && !chosen.some(each => each.id === id));
  const set = (id: string, choice?: RunChoice) =>
    onChange(withRunTool(tools, kind, choice === undefined ? { id } : { id, choice }));
  return (
    <>
      {chosen.length === 0 ? null : (
        <section aria-label={title} className="rounded-md border">
          <h3 className="border-b bg-sunken px-3 py-2 text-sm font-medium">{title}</h3>
          <ul>
            {chosen.map(({ id, choice }) => {
              const found = listed.find(each => each.id === id);
              const name = found?.name ?? id;
              return (
                <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 last:border-b-0">
                  <div className="min-w-0 flex-1 basis-48">
                    <Link href={`${path}/${id}`} className="block text-sm wrap-anywhere hover:text-accent-text">
                      {name}
                    </Link>
                    {found?.description ? <p className="truncate text-xs text-muted">{found.description}</p> : null}
                    {loaded !== undefined && found === undefined ? (
                      <p className="text-xs text-warn">Not available: it may be archived or unpublished.</p>
                    ) : null}
                  </div>
                  <Select<RunChoice>
                    label={`${name}: what the agent does`}
                    size="sm"
                    className="w-28"
                    value={kind === 'agent' && choice === 'ask' ? 'default' : choice}
                    disabled={readOnly}
                    options={options[kind]}
                    onChange={changed => set(id, changed)}
                  />
                  {readOnly ? null : (
                    <Button size="sm" variant="ghost" aria-label={`Remove ${name}`} onClick={() => set(id)}>
                      <X aria-hidden className="size-3.5" />
                    </Button>
                  )}
                </li>
              );
            })}
          </ul>
        </section>
      )}
      {readOnly || others.length === 0 ? null : (
        <Select<string>
          label={add}
          placeholder={add}
          value={undefined}
          options={others.map(({ id, name, description }) => ({
            value: id,
            label: name,
            ...(description !== '' && { hint: description.slice(0, 80) }),
          }))}
          onChange={id => set(id, 'default')}
        />
      )}
    </>
  );
}
