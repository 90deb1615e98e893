'use client';
import type { ReactNode } from 'react';
import { ToolsField } from '../agent-tools/tools-field.tsx';
import { ModelField } from '../editor/inspector/pickers.tsx';
import { useSession } from '../session/session.tsx';
import { Card } from '../ui/card.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import type { AgentDraft } from './agent-draft.ts';
import { LimitsEstimate } from './limits-estimate.tsx';
import { MemoryCard } from './memory-card.tsx';

type Props = {
  agentId: string;
  draft: AgentDraft;
  onChange: (draft: AgentDraft) => void;
  /** The problems, by the paths of the agent's fields. */
  problems: Readonly<Record<string, string>>;
  readOnly: boolean;
};

/** The form with an agent's settings: its instructions, model, tools, memory and limits. */
export function AgentForm({ agentId, draft, onChange, problems, readOnly }: Props) {
  const { me } = useSession();
  const set = (patch: Partial<AgentDraft>) => onChange({ ...draft, ...patch });
  const ofTools = Object.entries(problems).filter(([path]) => path.startsWith('tools'));
  const starterProblem = Object.entries(problems).find(([path]) => path.startsWith('starters'))?.[1];
  return (
    <div className="flex flex-col gap-4">
      <Card title="Instructions">
        <div className="flex flex-col gap-4">
          <Field label="Name" required error={problems.name}>
            <Input
              value={draft.name}
              maxLength={200}
              readOnly={readOnly}
              onChange={event => set({ name: event.target.value })}
            />
          </Field>
          <Field label="Description" optional error={problems.description}>
            <Input
              value={draft.description}
              readOnly={readOnly}
              onChange={event => set({ description: event.target.value })}
            />
          </Field>
          <ModelField
            field={{ hint: 'provider/model, such as openai/gpt-5' }}
            value={draft.model}
            onChange={value => set({ model: typeof value === 'string' ? value : '' })}
            problem={problems.model}
            readOnly={readOnly}
          />
          <Field
            label="Instructions"
            error={problems.instructions}
            hint="What the agent does and how. Use {{input.name}} for a field of the run’s input."
          >
            <Textarea
              rows={10}
              value={draft.instructions}
              readOnly={readOnly}
              onChange={event => set({ instructions: event.target.value })}
            />
          </Field>
          <Field
            label="Starters"
            optional
            error={starterProblem}
            hint="Suggested first messages, one per line. Up to 10."
          >
            <Textarea
              rows={2}
              value={draft.starters}
              readOnly={readOnly}
              onChange={event => set({ starters: event.target.value })}
            />
          </Field>
        </div>
      </Card>
      <Card title="Tools" description="What the agent can call, and when it needs approval first.">
        {ofTools.map(([path, message]) => (
          <p key={path} role="alert" className="mb-2 text-xs text-bad">
            {message}
          </p>
        ))}
        <ToolsField agentId={agentId} tools={draft.tools} onChange={tools => set({ tools })} readOnly={readOnly} />
      </Card>
      {me.memory ? <MemoryCard draft={draft} set={set} problem={problems.memory} readOnly={readOnly} /> : null}
      <Limits agentId={agentId} draft={draft} set={set} problems={problems} readOnly={readOnly} />
    </div>
  );
}

type NumberName = 'maxTurns' | 'maxToolCalls' | 'timeoutS' | 'budgetCredits' | 'temperature' | 'maxTokens';

const onLimitOptions = [
  { value: 'answer', label: 'Answer without tools', hint: 'Based on what it has found so far' },
  { value: 'fail', label: 'Fail' },
] as const;

type LimitsProps = Pick<Props, 'agentId' | 'draft' | 'problems' | 'readOnly'> & {
  set: (patch: Partial<AgentDraft>) => void;
};

function Limits({ agentId, draft, set, problems, readOnly }: LimitsProps) {
  const field = (name: NumberName, path: string, label: ReactNode, optional = false) => (
    <Field label={label} error={problems[path]} optional={optional}>
      <Input
        inputMode="decimal"
        value={draft[name]}
        readOnly={readOnly}
        onChange={event => set({ [name]: event.target.value })}
      />
    </Field>
  );
  return (
    <Card title="Limits" description="A run ends when it reaches any of these limits.">
      <div className="grid gap-4 sm:grid-cols-2">
        {field('maxTurns', 'limits.max_turns', 'Model turns')}
        {field('maxToolCalls', 'limits.max_tool_calls', 'Tool calls')}
        {field('timeoutS', 'limits.timeout_s', 'Seconds')}
        {field('budgetCredits', 'limits.budget_credits', 'Credits', true)}
        <Field label="When a limit is reached" error={problems.on_limit}>
          <Select
            value={draft.onLimit}
            disabled={readOnly}
            options={onLimitOptions}
            onChange={onLimit => set({ onLimit })}
          />
        </Field>
        {field('maxTokens', 'max_tokens', 'Max tokens per answer', true)}
        {field('temperature', 'temperature', 'Temperature', true)}
      </div>
      <LimitsEstimate agentId={agentId} />
    </Card>
  );
}
