'use client';
import { Card } from '../ui/card.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { Field } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import type { AgentDraft } from './agent-draft.ts';

type Memory = NonNullable<AgentDraft['memory']>;
type Scope = Memory['read'][number];
type Write = NonNullable<Memory['write']>;
type Props = {
  draft: AgentDraft;
  set: (patch: Partial<AgentDraft>) => void;
  problem: string | undefined;
  readOnly: boolean;
};

const scopes: readonly { value: Scope; label: string; hint: string }[] = [
  { value: 'private', label: 'Personal', hint: 'Private memories of the person who asks, and no one else’s' },
  { value: 'project', label: 'This project', hint: 'Memories visible to everyone in the project' },
  { value: 'workspace', label: 'Whole workspace', hint: 'Memories visible in every project' },
];
const writes = [
  { value: 'off', label: 'Nothing', hint: 'It only reads memories' },
  { value: 'propose', label: 'Proposals', hint: 'A person reviews each one, unless they asked to remember it' },
  { value: 'auto', label: 'What people say', hint: 'Saved immediately. What tools return is still reviewed' },
] as const;

/** Edits the memory settings of an agent: the memories that it recalls, and its memory tools. */
export function MemoryCard({ draft: { memory, tools }, set, problem, readOnly }: Props) {
  const read = memory?.read ?? [];
  const hasTools = tools.some(({ type }) => type === 'memory');
  const setRead = (scope: Scope, on: boolean) => {
    const next = scopes.flatMap(({ value }) => ((value === scope ? on : read.includes(value)) ? [value] : []));
    // Without a readable scope, the setting for writing has no effect.
    if (next.length === 0) set({ memory: null, tools: withoutMemory });
    else set({ memory: { ...memory, read: next } });
  };
  const withoutMemory = tools.filter(({ type }) => type !== 'memory');
  return (
    <Card title="Memory" description="Which memories the agent gets before it answers, and what it may remember.">
      <div className="flex flex-col gap-4">
        {problem === undefined ? null : (
          <p role="alert" className="text-xs text-bad">
            {problem}
          </p>
        )}
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1.5 text-sm font-medium">Reads memories</legend>
          {scopes.map(({ value, label, hint }) => (
            <Checkbox
              key={value}
              label={label}
              hint={hint}
              checked={read.includes(value)}
              disabled={readOnly}
              onCheckedChange={on => setRead(value, on)}
            />
          ))}
        </fieldset>
        {memory === null ? null : (
          <Checkbox
            label="Searches memories while it works"
            hint="In addition to the memories that it gets before it answers"
            checked={hasTools}
            disabled={readOnly}
            onCheckedChange={on => set({ tools: on ? [...withoutMemory, { type: 'memory' }] : withoutMemory })}
          />
        )}
        {memory !== null && hasTools ? (
          <Field label="Remembers" hint="On behalf of the person who asks. It asks before it forgets anything.">
            <Select<Write>
              value={memory.write ?? 'propose'}
              disabled={readOnly}
              options={writes}
              onChange={write => set({ memory: { ...memory, write } })}
            />
          </Field>
        ) : null}
      </div>
    </Card>
  );
}
