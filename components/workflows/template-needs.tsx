'use client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Field } from '../ui/field.tsx';
import { Link } from '../ui/link.tsx';
import { Select } from '../ui/select.tsx';
import { graphOf, type Template, type TemplateNeed } from './templates/template.ts';

/** A person's choices for a template; undefined means the first option. */
export type Chosen = { instanceId?: string; model?: string };

type Option = { value: string; label: string; hint: string };

/**
 * Reads the MCP instances, the models and the address of the demo API for a template; undefined until they are loaded. `demoApi` is null if
 * there is no demo API, or the template does not need it.
 */
export function useTemplateOptions(template: Template | null) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const needs = (kind: string) => template?.needs.some(need => need.kind === kind) ?? false;
  // Resolving the graph without an instance returns the instances that offer its tool.
  const resolved = useQuery({
    queryKey: [...trpc.mcp_instances_resolve.mutationKey(), template?.slug],
    queryFn: () =>
      client.mcp_instances_resolve.mutate({
        graph: template === null ? { steps: [] } : graphOf(template, { instanceId: null, model: null }),
      }),
    enabled: needs('mcp_instance'),
  });
  const catalog = useQuery(trpc.llm_catalog_list.queryOptions({}, { enabled: needs('model') }));
  // The catalog lists the demo MCP server, whose host also serves the demo API.
  const demos = useQuery(trpc.mcp_platform_catalog.queryOptions(undefined, { enabled: needs('demo_api') }));
  const demo = demos.data?.adapters.find(({ key }) => key === 'baton-demo');
  const demoApi = demo === undefined ? null : new URL('/demo/api', demo.canonical_url).href;
  const offers = resolved.data?.steps.flatMap(({ suggestions }) => suggestions);
  return {
    demoApi: needs('demo_api') && demos.isPending ? undefined : demoApi,
    instances: offers?.map(({ instance_id, name, server_name }) => ({
      value: instance_id,
      label: name,
      hint: server_name,
    })),
    models: catalog.data?.providers
      .filter(({ configured }) => configured)
      .flatMap(({ name, models }) =>
        models
          .filter(({ supports }) => !supports.embeddings)
          .map(model => ({ value: model.id, label: model.name, hint: name })),
      ),
  };
}

type Props = {
  template: Template;
  options: ReturnType<typeof useTemplateOptions>;
  chosen: Chosen;
  onChange: (chosen: Chosen) => void;
};

/** Choices for the steps of a template that need an instance or a model. */
export function TemplateNeeds({ template, options, chosen, onChange }: Props) {
  const shown = useRef<HTMLDivElement>(null);
  const isLoaded =
    options.instances !== undefined || options.models !== undefined || typeof options.demoApi === 'string';
  // The section is below the cards, and could be out of sight when a card is chosen or the section grows.
  useEffect(() => {
    if (isLoaded) shown.current?.scrollIntoView({ block: 'nearest' });
  }, [isLoaded]);
  return (
    <div ref={shown} className="flex flex-col gap-4">
      {template.needs.map(need => (
        <NeedChoice key={need.label} need={need} options={options} chosen={chosen} onChange={onChange} />
      ))}
      <PartnersNote template={template} />
    </div>
  );
}

/** Lists the other workflows that are created. */
function PartnersNote({ template: { child, handler } }: { template: Template }) {
  if (child === undefined && handler === undefined) return null;
  const count = child !== undefined && handler !== undefined ? 3 : 2;
  return (
    <p className="text-sm text-muted">
      Creates {count} workflows: this one
      {child === undefined ? null : (
        <>
          , <strong>{child.name}</strong>, which it calls
        </>
      )}
      {handler === undefined ? null : (
        <>
          , and <strong>{handler.name}</strong>, which starts when it fails
        </>
      )}
      . {count === 3 ? 'The other two are' : 'The other one is'} published at once.
    </p>
  );
}

function NeedChoice({ need, options, chosen, onChange }: Omit<Props, 'template'> & { need: TemplateNeed }) {
  if (need.kind === 'mcp_instance') {
    return (
      <Choice
        label="MCP instance"
        hint={`The step calls its tool ${need.tool}.`}
        options={options.instances}
        value={chosen.instanceId}
        onChange={instanceId => onChange({ ...chosen, instanceId })}
        missing={{
          text: `No MCP instance of this project offers the tool ${need.tool}.`,
          href: '/mcp-servers',
          action: 'Set one up',
        }}
      />
    );
  }
  if (need.kind === 'model') {
    return (
      <Choice
        label="Model"
        hint="You can change it in the step."
        options={options.models}
        value={chosen.model}
        onChange={model => onChange({ ...chosen, model })}
        missing={{ text: 'The workspace has no model key yet.', href: '/settings/model-keys', action: 'Add a key' }}
      />
    );
  }
  if (need.kind === 'demo_api') return <DemoApiNote address={options.demoApi} />;
  return null;
}

function DemoApiNote({ address }: { address: string | null | undefined }) {
  if (address === undefined) return null;
  return (
    <p className="text-sm text-muted">
      {address === null ? (
        'The demo API of this server is turned off. Enter the address of your own API when you run it.'
      ) : (
        <>
          Its input is filled in with the demo API of this server, <code>{address}</code>.
        </>
      )}
    </p>
  );
}

function Choice({
  label,
  hint,
  options,
  value,
  onChange,
  missing,
}: {
  label: string;
  hint: string;
  options: readonly Option[] | undefined;
  value: string | undefined;
  onChange: (value: string) => void;
  missing: { text: string; href: string; action: string };
}) {
  if (options?.length === 0) {
    return (
      <p className="text-sm text-muted">
        {missing.text}{' '}
        <Link href={missing.href} className="text-accent-text underline">
          {missing.action}
        </Link>
        , or create the workflow now and complete the step later.
      </p>
    );
  }
  return (
    <Field label={label} hint={hint}>
      <Select
        value={value ?? options?.[0]?.value}
        options={options ?? []}
        disabled={options === undefined}
        onChange={onChange}
      />
    </Field>
  );
}
