'use client';
import { useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import type { AgentTools } from '../../agent-tools/tool-choices.ts';
import { ToolsField } from '../../agent-tools/tools-field.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { readAgentTools } from './agent-tools.ts';
import { JsonField, type SchemaFieldProps } from './code-field.tsx';

/** The tools of an agent step: lists to choose from, or JSON if the user prefers it or the value is not a list of tools. */
export function AgentToolsField(props: SchemaFieldProps) {
  const { value, step, onChange, readOnly, problem, workflowId } = props;
  const [asJson, setAsJson] = useState(false);
  const tools = readAgentTools(value);
  if (tools === null) return <JsonField {...props} />;
  if (typeof step.agent_id === 'string' && tools.length === 0)
    return <p className="text-xs text-muted">This step uses the tools of the selected agent.</p>;
  const others = tools.flatMap(tool => othersOf(tool));
  const set = (next: AgentTools) => onChange(next.length === 0 ? undefined : (next as Json));
  return (
    <section aria-label="Tools of the agent" className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-2">
        <h3 className="text-sm font-medium">Tools</h3>
        <Checkbox label="Edit as JSON" checked={asJson} onCheckedChange={setAsJson} />
      </div>
      {asJson ? (
        <JsonField {...props} />
      ) : (
        <>
          <ToolsField agentId={workflowId} tools={tools} onChange={set} readOnly={readOnly} />
          {others.length > 0 ? (
            <p className="text-xs wrap-anywhere text-muted">Also available, edited as JSON: {others.join(', ')}</p>
          ) : null}
          {problem ? (
            <p role="alert" className="text-xs wrap-anywhere text-bad">
              {problem}
            </p>
          ) : null}
        </>
      )}
    </section>
  );
}

/** Returns the names of tools that the lists do not show. */
function othersOf(tool: AgentTools[number]): readonly string[] {
  if (tool.type === 'platform') return tool.operations;
  return tool.type === 'ask_user' || tool.type === 'memory' ? [tool.type] : [];
}
