'use client';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { usePermissions } from '../../session/session.tsx';
import { useTRPC } from '../../trpc/provider.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Link } from '../../ui/link.tsx';
import { Select, type SelectOption } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { FormError } from '../../ui/states.tsx';
import type { SchemaFieldProps } from './code-field.tsx';
import { explained } from './field-help.tsx';

type Option<L> = { value: string; label: L; hint?: string };

/** Returns the options of a list, with the current value added if it is not among them. */
export function withCurrent<L extends ReactNode>(options: readonly Option<L>[], value: string): Option<L | string>[] {
  const isKnown = value === '' || options.some(option => option.value === value);
  return isKnown ? [...options] : [{ value, label: value, hint: 'Not in the list' }, ...options];
}

type ChoiceProps = Pick<SchemaFieldProps, 'value' | 'onChange' | 'problem' | 'readOnly'>;
type PickerProps = ChoiceProps & {
  label: string;
  hint?: string;
  placeholder: string;
  options: readonly SelectOption<string>[] | undefined;
  error: unknown;
  /** Shown instead of an empty list. */
  empty: React.ReactNode;
  required?: boolean;
};

function Picker({ label, hint, placeholder, options, error, empty, required = true, ...props }: PickerProps) {
  const { value, onChange, problem, readOnly } = props;
  const current = typeof value === 'string' ? value : '';
  if (options === undefined && error) return <FormError error={error} />;
  return (
    <Field label={label} {...explained(hint, label)} error={problem} required={required}>
      {options === undefined ? (
        <Skeleton className="h-8 w-full" />
      ) : options.length === 0 && current === '' ? (
        <p className="text-xs text-muted">{empty}</p>
      ) : (
        <Select
          value={current === '' ? undefined : current}
          placeholder={placeholder}
          disabled={readOnly}
          options={withCurrent(options, current)}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

/** A read-only value for viewers, who may not list the choices. */
function FixedValue({ label, value }: { label: string; value: unknown }) {
  return (
    <Field label={label}>
      <Input value={typeof value === 'string' ? value : ''} readOnly className="font-mono" />
    </Field>
  );
}

/** Chooses the MCP instance that a step calls. */
export function InstanceField(props: SchemaFieldProps) {
  const { canWrite } = usePermissions();
  return canWrite ? <InstancePicker {...props} /> : <FixedValue label="MCP instance" value={props.value} />;
}

function InstancePicker(props: SchemaFieldProps) {
  const trpc = useTRPC();
  const list = useQuery(trpc.mcp_instances_list.queryOptions({ limit: 100 }));
  return (
    <Picker
      {...props}
      label="MCP instance"
      hint="The server to call, and the credentials to call it with."
      placeholder="Choose an instance"
      options={list.data?.instances.map(({ id, name, server }) => ({ value: id, label: name, hint: server.name }))}
      error={list.error}
      empty={
        <>
          This project has no MCP instance yet.{' '}
          <Link href="/mcp-servers" className="text-accent-text underline">
            Set one up
          </Link>
        </>
      }
    />
  );
}

/** Returns the tools of the step's instance; empty without an instance, and for viewers, who may not list tools. */
export function useTools(step: SchemaFieldProps['step']) {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const instance = typeof step.instance_id === 'string' ? step.instance_id : '';
  const isId = /^[0-9a-f-]{36}$/i.test(instance);
  const list = useQuery(
    trpc.mcp_tools_list.queryOptions(
      { instance_id: instance, limit: 100 },
      { enabled: isId && canWrite, staleTime: 60_000 },
    ),
  );
  return { chosen: isId, tools: isId && canWrite ? list.data?.tools : [], error: list.error };
}

/** Chooses a tool of the step's MCP instance. */
export function ToolField(props: SchemaFieldProps) {
  const { canWrite } = usePermissions();
  return canWrite ? <ToolPicker {...props} /> : <FixedValue label="Tool" value={props.value} />;
}

function ToolPicker(props: SchemaFieldProps) {
  const { chosen, tools, error } = useTools(props.step);
  return (
    <Picker
      {...props}
      label="Tool"
      placeholder="Choose a tool"
      options={tools?.map(({ name, title }) => ({ value: name, label: name, ...(title ? { hint: title } : {}) }))}
      error={error}
      empty={chosen ? 'The instance has no published tools.' : 'Choose an instance first.'}
    />
  );
}

/** Chooses an agent of the project, which has its own settings. Without an agent, the step contains the settings itself. */
export function AgentField(props: SchemaFieldProps) {
  const { canWrite } = usePermissions();
  return canWrite ? <AgentPicker {...props} /> : <FixedValue label="Agent" value={props.value} />;
}

function AgentPicker(props: SchemaFieldProps) {
  const trpc = useTRPC();
  const list = useQuery(trpc.agents_list.queryOptions({ limit: 100 }));
  const options = list.data?.agents.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Picker
      {...props}
      value={props.value ?? NONE}
      onChange={next => props.onChange(next === NONE ? undefined : next)}
      label="Agent"
      hint="An agent of the project brings its own model, instructions and tools."
      placeholder="Choose an agent"
      required={false}
      options={options && [{ value: NONE, label: 'None: describe the agent here' }, ...options]}
      error={list.error}
      empty={null}
    />
  );
}

const NONE = '\u0002';
const OTHER = '\u0001';

/** Chooses a model of the providers for which the workspace has keys, or accepts the name of another model. */
export function ModelField(props: ChoiceProps & { field: Pick<SchemaFieldProps['field'], 'hint'> }) {
  const { value, onChange, readOnly } = props;
  const trpc = useTRPC();
  const catalog = useQuery(trpc.llm_catalog_list.queryOptions({}));
  const { canWrite } = usePermissions();
  const [other, setOther] = useState(false);
  const current = typeof value === 'string' ? value : '';
  const options = catalog.data?.providers
    .filter(({ configured }) => configured)
    .flatMap(({ name, models }) =>
      models
        .filter(({ supports }) => !supports.embeddings)
        .map(model => ({ value: model.id, label: model.name, hint: name })),
    );
  const isOther = other || (options !== undefined && current !== '' && !options.some(each => each.value === current));
  return (
    <div className="flex flex-col gap-2">
      <Picker
        {...props}
        value={isOther ? OTHER : value}
        onChange={next => {
          setOther(next === OTHER);
          if (next !== OTHER) onChange(next);
        }}
        label="Model"
        placeholder="Choose a model"
        options={options && [...options, { value: OTHER, label: 'Another model' }]}
        error={catalog.error}
        empty={null}
      />
      {canWrite && options?.length === 0 ? (
        <p className="text-xs text-muted">
          The workspace has no model key yet.{' '}
          <Link href="/settings/model-keys" className="text-accent-text underline">
            Add a key
          </Link>
        </p>
      ) : null}
      {isOther ? (
        <Field label="Model name" hint={props.field.hint}>
          <Input
            value={current}
            readOnly={readOnly}
            className="font-mono"
            onChange={event => onChange(event.target.value)}
          />
        </Field>
      ) : null}
    </div>
  );
}
