'use client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Link } from '../ui/link.tsx';
import { Select } from '../ui/select.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { FormError } from '../ui/states.tsx';
import { AgentToolsField, WorkflowToolsField } from './run-tools-field.tsx';
import {
  type AgentTools,
  type CatalogTool,
  type Choice,
  choicesOf,
  defaultChoice,
  effectiveNames,
  factsOf,
  instancesOf,
  onLostOf,
  withChoices,
  withOnLost,
} from './tool-choices.ts';
import { WorkspaceApprovalsNote } from './workspace-approvals.tsx';

type Props = { tools: AgentTools; onChange: (tools: AgentTools) => void; readOnly: boolean };

/**
 * Edits the tools of an agent by MCP instance, and the workflows and agents that it may call.
 */
export function ToolsField({ agentId, ...props }: Props & { agentId: string }) {
  const { canWrite } = usePermissions();
  const ofRuns = { ...props, agentId, readOnly: props.readOnly || !canWrite };
  return (
    <div className="flex flex-col gap-3">
      {canWrite ? <ToolsEditor {...props} /> : <ToolNames tools={props.tools} />}
      <WorkflowToolsField {...ofRuns} />
      <AgentToolsField {...ofRuns} />
    </div>
  );
}

/** Lists the names of tools for viewers, who may not list the tools of instances. */
function ToolNames({ tools }: { tools: AgentTools }) {
  if (tools.length === 0) return <p className="text-sm text-muted">None</p>;
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {effectiveNames(tools).map(({ names, approval }) => (
        <li key={JSON.stringify([names, approval])}>
          <code className="text-xs">{names.join(', ')}</code>
          {approval === undefined ? null : <span className="text-muted"> · {approval}</span>}
        </li>
      ))}
    </ul>
  );
}

function ToolsEditor({ tools, onChange, readOnly }: Props) {
  const trpc = useTRPC();
  const list = useQuery(trpc.mcp_instances_list.queryOptions({ limit: 100 }));
  // An added instance is shown until the page is left, even if all of its tools are "Never".
  const [added, setAdded] = useState<readonly string[]>([]);
  const present = [...new Set([...instancesOf(tools), ...added])];
  const nameOf = (id: string) => list.data?.instances.find(instance => instance.id === id)?.name ?? id;
  const others = list.data?.instances.filter(({ id }) => !present.includes(id)) ?? [];
  if (list.isError) return <FormError error={list.error} />;
  return (
    <div className="flex flex-col gap-3">
      {present.map(id => (
        <InstanceTools key={id} id={id} name={nameOf(id)} tools={tools} onChange={onChange} readOnly={readOnly} />
      ))}
      {readOnly ? null : list.data?.instances.length === 0 ? (
        <p className="text-xs text-muted">
          This project has no MCP instance yet.{' '}
          <Link href="/mcp-servers" className="text-accent-text underline">
            Set one up
          </Link>
        </p>
      ) : others.length > 0 ? (
        <Select<string>
          label="Add the tools of an MCP instance"
          placeholder="Add the tools of an MCP instance"
          value={undefined}
          options={others.map(({ id, name, server }) => ({ value: id, label: name, hint: server.name }))}
          onChange={id => setAdded([...added, id])}
        />
      ) : null}
      {tools.length === 0 && readOnly ? <p className="text-sm text-muted">None</p> : <WorkspaceApprovalsNote />}
    </div>
  );
}

const options = [
  { value: 'auto', label: 'Auto', hint: 'Calls it without asking' },
  { value: 'ask', label: 'Ask', hint: 'A person approves each call' },
  { value: 'never', label: 'Never', hint: 'Hidden from the model' },
] as const;

function InstanceTools({ id, name, tools, onChange, readOnly }: Props & { id: string; name: string }) {
  const trpc = useTRPC();
  const list = useQuery(trpc.mcp_tools_list.queryOptions({ instance_id: id, limit: 100 }, { staleTime: 60_000 }));
  const catalog = list.data?.tools ?? [];
  const choices = choicesOf(tools, id, catalog);
  const set = (changed: Record<string, Choice>) => onChange(withChoices(tools, id, { ...choices, ...changed }));
  const all = (choice: (tool: CatalogTool) => Choice) =>
    set(Object.fromEntries(catalog.map(tool => [tool.name, choice(tool)])));
  return (
    <section aria-label={`Tools of ${name}`} className="rounded-md border">
      <div className="flex flex-wrap items-center justify-between gap-2 border-b bg-sunken px-3 py-2">
        <h3 className="text-sm font-medium">{name}</h3>
        {readOnly || catalog.length === 0 ? null : (
          <div className="flex gap-1">
            <Button size="sm" onClick={() => all(tool => defaultChoice(factsOf(tool)))}>
              Offer all
            </Button>
            <Button size="sm" onClick={() => all(() => 'never')}>
              Offer none
            </Button>
          </div>
        )}
      </div>
      {list.isError ? <FormError error={list.error} /> : null}
      {list.isPending ? <Skeleton className="m-3 h-8" /> : null}
      <ul>
        {catalog.map(tool => (
          <ToolRow
            key={tool.name}
            tool={tool}
            choice={choices[tool.name] ?? 'never'}
            onChange={choice => set({ [tool.name]: choice })}
            readOnly={readOnly}
          />
        ))}
      </ul>
      {list.data?.tools.length === 0 ? (
        <p className="px-3 py-2 text-xs text-muted">The instance has no published tools.</p>
      ) : null}
      {Object.values(choices).some(choice => choice !== 'never') ? (
        <div className="flex flex-wrap items-center justify-between gap-2 border-t px-3 py-2">
          <p className="text-xs text-muted">
            If the outcome of a call is unknown because Baton stopped during the call
          </p>
          <Select
            label={`If the outcome of a call is unknown: ${name}`}
            size="sm"
            className="w-44"
            placeholder="Depends on the tool"
            value={onLostOf(tools, id)}
            options={onLostOptions}
            disabled={readOnly}
            onChange={onLost => onChange(withOnLost(tools, id, onLost))}
          />
        </div>
      ) : null}
    </section>
  );
}

const onLostOptions = [
  { value: 'default', label: 'As the tool declares', hint: 'Ask if destructive, otherwise retry' },
  { value: 'ask', label: 'Ask', hint: 'A person decides what to do' },
  { value: 'retry', label: 'Retry', hint: 'With the same idempotency key' },
] as const;

type RowProps = { tool: CatalogTool; choice: Choice; onChange: (choice: Choice) => void; readOnly: boolean };

function ToolRow({ tool, choice, onChange, readOnly }: RowProps) {
  const { reads, destroys } = factsOf(tool);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 last:border-b-0">
      <div className="min-w-0 flex-1 basis-48">
        <p className="truncate font-mono text-xs">{tool.name}</p>
        {tool.description ? <p className="truncate text-xs text-muted">{tool.description}</p> : null}
      </div>
      {destroys ? (
        <Badge tone="warn" title="The published version says that it can delete or overwrite data, so it always asks">
          Destructive
        </Badge>
      ) : reads ? (
        <Badge tone="info">Read-only</Badge>
      ) : null}
      <Select<Choice>
        label={`${tool.name}: what the agent does`}
        size="sm"
        className="w-24"
        value={choice}
        disabled={readOnly}
        options={destroys ? options.filter(({ value }) => value !== 'auto') : options}
        onChange={onChange}
      />
    </li>
  );
}
